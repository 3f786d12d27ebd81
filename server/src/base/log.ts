import { pino, type Logger } from "pino";

export type Log = Logger;

/** JSON lines on stderr; stdout belongs to what a person started the program for. */
export function createLog(level: string): Log {
  return pino(
    { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
