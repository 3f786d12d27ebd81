import { AppError, coerceError, unavailable } from "../../base/errors.ts";
import { shortageIn } from "../../base/shortage.ts";

/** ClickHouse codes: timeouts, memory limit, too many parts or queries, network, shutting down, no quorum. */
const AWAY = new Set([
  "159",
  "209",
  "210",
  "236",
  "241",
  "242",
  "243",
  "252",
  "202",
  "285",
  "286",
  "319",
  "394",
  "425",
  "439",
]);

/**
 * Returns true for errors that leave open whether data was written: the store is unavailable, stopping, or out of
 * memory.
 */
export function isAway(error: unknown): boolean {
  if (error instanceof AppError) return error.status === 503;
  if (shortageIn(error)) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && (AWAY.has(code) || code.startsWith("E") || code.startsWith("08"));
}

/** Translates a storage failure to the error of the request. */
export function translate(error: unknown): Error {
  if (error instanceof AppError) return error;
  if (!isAway(error)) return coerceError(error);
  const reason = shortageIn(error)?.message ?? "The trace store cannot accept traces at the moment.";
  return unavailable(`${reason} Try again later.`, 2, error);
}
