import { choice, integer } from "./options.ts";

/** Settings that a server process has once, whichever roles it plays. */
export const processOptions = {
  logLevel: choice({
    env: ["HEDDLE_LOG_LEVEL", "LOG_LEVEL"],
    default: "warn",
    of: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    description: "Least severe log line that is written to stderr.",
  }),
  databasePool: integer({
    env: ["HEDDLE_DATABASE_POOL"],
    default: 10,
    min: 2,
    description: "Connections to Postgres.",
  }),
};
