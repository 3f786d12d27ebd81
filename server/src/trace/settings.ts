import { choice, integer, type Options } from "../base/config/options.ts";

/** Settings of the trace platform. */
export const traceOptions = {
  errors: choice({
    env: ["HEDDLE_TRACE_ERRORS"],
    default: "detail",
    of: ["text", "detail"],
    description: 'Shape of error bodies: bare text, or {"detail": message}.',
  }),
  maxBodyBytes: integer({
    env: ["HEDDLE_TRACE_MAX_BODY_BYTES"],
    default: 64 * 1024 * 1024,
    min: 1024,
    description: "Largest request body in bytes; a larger one gets 413.",
  }),
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

export type TraceSettings = Options<typeof traceOptions>;
