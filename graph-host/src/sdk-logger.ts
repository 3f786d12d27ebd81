import { format, inspect } from "node:util";

import { omit } from "./omit.ts";
import { currentWork } from "./runs/active-run.ts";
import { toJson } from "./serialize.ts";

type LogMethod = (message: unknown, ...meta: unknown[]) => SdkLogger;
type SdkLogger = { [name in keyof typeof LEVELS]: LogMethod };

/** Levels of the logger of LangGraph's servers, with the numbers of the server's own log lines. */
const LEVELS = {
  error: 50,
  warn: 40,
  help: 30,
  data: 30,
  info: 30,
  debug: 20,
  prompt: 20,
  http: 20,
  verbose: 20,
  input: 20,
  silly: 10,
};

/** Key under which `getLogger()` of `@langchain/langgraph-sdk/logging` finds the logger. */
const KEY = Symbol.for("langgraph.api.sdk-logger");

/**
 * Provides the logger of `getLogger()`: JSON lines on stderr in the form of the server's own, with the id of the run
 * that logs. `LOG_LEVEL` is the lowest level printed, `debug` by default.
 */
export function provideSdkLogger(): void {
  const lowest = LEVELS[process.env.LOG_LEVEL as keyof typeof LEVELS] ?? LEVELS.debug;
  const names = Object.keys(LEVELS) as (keyof typeof LEVELS)[];
  const logger = Object.fromEntries(
    names.map((name): [string, LogMethod] => [
      name,
      (message, ...meta) => {
        if (LEVELS[name] >= lowest) process.stderr.write(`${logLine(LEVELS[name], message, meta)}\n`);
        return logger;
      },
    ]),
  ) as SdkLogger;
  (globalThis as { [KEY]?: SdkLogger })[KEY] = logger;
}

function logLine(level: number, message: unknown, meta: unknown[]): string {
  const entry: Record<string, unknown> = { level, time: new Date().toISOString() };
  const runId = currentWork.getStore()?.runId;
  if (runId !== undefined) entry["run_id"] = runId;
  if (typeof message === "string") entry["msg"] = message;
  for (const part of typeof message === "string" ? meta : [message, ...meta]) {
    if (part instanceof Error) entry["err"] = { type: part.name, message: part.message, stack: part.stack };
    else if (typeof part === "object" && part !== null) {
      const { message: text, ...fields } = omit(part as Record<string, unknown>, "level");
      Object.assign(entry, fields, text === undefined ? {} : { msg: text });
    } else entry["msg"] = format(...[entry["msg"] ?? [], part].flat());
  }
  try {
    return toJson(entry);
  } catch {
    // a circular value
    return toJson({ level, time: entry["time"], run_id: runId, msg: inspect(message) });
  }
}
