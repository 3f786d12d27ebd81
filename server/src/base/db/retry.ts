import { setTimeout as sleep } from "node:timers/promises";

import { AppError } from "../errors.ts";
import { shortageIn } from "../shortage.ts";

// Errors of Node.js's sockets and resolver, of postgres.js, and SQLSTATEs of a server that stops, crashes, starts, has
// no connections left, is still a standby, or has a failing disk
const UNAVAILABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "CONNECT_TIMEOUT",
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "57P01",
  "57P02",
  "57P03",
  "53300",
  "25006",
  "58030",
]);

/** Whether the database was unreachable or the connection was lost. The outcome of the statement is then unknown. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && (UNAVAILABLE.has(code) || code.startsWith("08"));
}

/** Codes raised before a statement is sent. */
const UNSENT = new Set(["ECONNREFUSED", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "CONNECT_TIMEOUT", "57P03", "53300"]);

/** Whether the database was unreachable and the statement was not sent; otherwise it may have been executed. */
export const isUnsent = (error: unknown): boolean => UNSENT.has(String((error as { code?: unknown } | null)?.code));

/**
 * Nothing listens at the address, or the host name is unknown. A server that is starting, full or hanging is reachable.
 */
const UNREACHABLE = new Set(["ECONNREFUSED", "ENOENT", "ENOTFOUND", "EAI_AGAIN"]);

export const isUnreachable = (error: unknown): boolean =>
  UNREACHABLE.has(String((error as { code?: unknown } | null)?.code));

/** Whether the same statement may succeed later: the database is unreachable, or a resource is exhausted. */
export const isPassing = (error: unknown): boolean => isDatabaseUnavailable(error) || shortageIn(error) !== undefined;

/** Retries `work` while its failure is transient and `shouldRetry` holds. Only for idempotent work. */
export const untilDone = <T>(work: () => Promise<T>, shouldRetry: () => boolean): Promise<T> =>
  retry(work, Number.POSITIVE_INFINITY, shouldRetry, isPassing);

/** Retries `work` while its failure is transient, for at most `forMs`. Only for idempotent work. */
export const untilPassed = <T>(work: () => Promise<T>, forMs: number): Promise<T> =>
  retry(work, forMs, () => true, isPassing);

/**
 * Retries `work` while the database is unreachable, for at most `forMs` and as long as `shouldRetry` holds. Only for
 * idempotent work: the connection can be lost after the commit and before the answer.
 */
export const retryWhileUnavailable = <T>(
  work: () => Promise<T>,
  forMs = 15_000,
  shouldRetry: () => boolean = () => true,
): Promise<T> => retry(work, forMs, shouldRetry, isDatabaseUnavailable);

async function retry<T>(
  work: () => Promise<T>,
  forMs: number,
  shouldRetry: () => boolean,
  isRetried: (error: unknown) => boolean,
): Promise<T> {
  const deadline = performance.now() + forMs;
  for (let pause = 25; ; pause = Math.min(pause * 2, 400)) {
    try {
      return await work();
    } catch (error) {
      if (!isRetried(error) || performance.now() + pause > deadline || !shouldRetry()) throw error;
      await sleep(pause);
    }
  }
}

/** Error for the caller when the database remains unreachable. */
export const databaseUnavailable = (cause: unknown): AppError =>
  new AppError(503, "The database is unreachable. Try again.", { headers: { "Retry-After": "1" }, cause });
