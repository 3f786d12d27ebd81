import { telemetryOptions } from "../telemetry/settings.ts";
import { choice, integer } from "./options.ts";

/** Settings of a server process, independent of its roles. */
export const processOptions = {
  ...telemetryOptions,
  logLevel: choice({
    env: ["HEDDLE_LOG_LEVEL", "LOG_LEVEL"],
    default: "warn",
    of: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    description: "Minimum level of the log lines written to stderr.",
  }),
  databasePool: integer({
    env: ["HEDDLE_DATABASE_POOL"],
    default: 10,
    min: 2,
    description: "Maximum number of connections to Postgres.",
  }),
  healthGraceSecs: integer({
    env: ["HEDDLE_HEALTH_GRACE_SECS"],
    default: 30,
    description:
      "How long a component that the server needs (database, graph hosts, disk …) may fail before /ok answers " +
      "503; /readyz answers 503 at once.",
  }),
  drainDelaySecs: integer({
    env: ["HEDDLE_DRAIN_DELAY_SECS"],
    default: 0,
    description:
      "How long a server that stops keeps serving while /readyz answers 503, so that load balancers take it out first.",
  }),
  minFreeDiskMb: integer({
    env: ["HEDDLE_MIN_FREE_DISK_MB"],
    default: 64,
    description: "Free space of the data directory's file system, in MiB, below which the server is not ready.",
  }),
};
