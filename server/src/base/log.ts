import { type DestinationStream, pino, type Logger } from "pino";

import { ConfigError } from "./config/options.ts";
import { scrubSecrets } from "./scrub-secrets.ts";

export type Log = Logger;

/** Creates a logger of JSON lines on stderr; stdout is for a program's output. */
export const createLog = (level: string): Log => logTo(level, standardError());

/** Bytes buffered for a slow disk or reader; lines beyond it are dropped. */
const MOST_WAITING = 8 * 1024 * 1024;

/**
 * Opens stderr, which may be a file on a full disk. A failed write is retried with the next line; it is neither an
 * uncaught exception nor, at exit, retried forever.
 */
function standardError(): DestinationStream {
  const stream = pino.destination({ fd: 2, sync: false, maxLength: MOST_WAITING });
  const flushSync = stream.flushSync.bind(stream);
  let fails = false;
  stream.on("error", () => (fails = true));
  stream.on("write", () => (fails = false));
  stream.flushSync = () => {
    if (!fails) flushSync();
  };
  return stream;
}

/** Omits the stack of an error in the configuration: its message is for operators, and no code of ours is at fault. */
function serializeError(error: Error, level: string): object {
  if (!(error instanceof ConfigError) || level === "debug" || level === "trace") return pino.stdSerializers.err(error);
  return { type: error.name, message: error.message };
}

export function logTo(level: string, destination: DestinationStream): Log {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: scrubSecrets },
    serializers: { err: (error: Error) => serializeError(error, level) },
  };
  return pino(options, destination);
}
