import { type DestinationStream, pino, type Logger } from "pino";

import { scrubSecrets } from "./scrub-secrets.ts";

export type Log = Logger;

/** JSON lines on stderr; stdout belongs to what a person started the program for. */
export const createLog = (level: string): Log => logTo(level, standardError());

/** Lines that wait for a disk or a reader, in bytes; those beyond it are dropped. */
const MOST_WAITING = 8 * 1024 * 1024;

/**
 * Stderr may be a file on a disk that is full. Such a write is tried again with the next line, and is neither an
 * uncaught exception nor, at the end of the process, retried for ever.
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

export function logTo(level: string, destination: DestinationStream): Log {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: scrubSecrets },
  };
  return pino(options, destination);
}
