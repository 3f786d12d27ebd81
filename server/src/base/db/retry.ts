import { setTimeout as sleep } from "node:timers/promises";

import { AppError } from "../errors.ts";

// node's socket errors, postgres.js's own, and the SQLSTATEs of a server that stops, crashes or starts
const AWAY = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "CONNECT_TIMEOUT",
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "57P01",
  "57P02",
  "57P03",
]);

/** True when the database could not be reached or went away in the middle: nothing is said of the statement. */
export function isDatabaseAway(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && (AWAY.has(code) || code.startsWith("08"));
}

/**
 * Runs `work` again while the database is away, for at most `forMs`. Only for work that may happen twice:
 * the connection can be lost after the commit and before the answer.
 */
export async function whileAway<T>(work: () => Promise<T>, forMs = 15_000): Promise<T> {
  const deadline = Date.now() + forMs;
  for (let pause = 25; ; pause = Math.min(pause * 2, 400)) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error) || Date.now() + pause > deadline) throw error;
      await sleep(pause);
    }
  }
}

/** What a caller is told when the database stays away. */
export const databaseAway = (cause: unknown): AppError =>
  new AppError(503, "The database cannot be reached. Try again.", { headers: { "Retry-After": "1" }, cause });
