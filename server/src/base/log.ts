import { type DestinationStream, pino, type Logger } from "pino";

import { scrubSecrets } from "./scrub-secrets.ts";

export type Log = Logger;

/** JSON lines on stderr; stdout belongs to what a person started the program for. */
export const createLog = (level: string): Log => logTo(level, pino.destination({ fd: 2, sync: false }));

export function logTo(level: string, destination: DestinationStream): Log {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: scrubSecrets },
  };
  return pino(options, destination);
}
