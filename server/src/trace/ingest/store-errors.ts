import { isClickHouseAway, TIMEOUT } from "../../base/clickhouse/away.ts";
import { AppError, coerceError, unavailable } from "../../base/errors.ts";
import { shortageIn } from "../../base/shortage.ts";

/**
 * Returns true for errors that leave open whether data was written: the store is unavailable, stopping, or out of
 * memory.
 */
export function isAway(error: unknown): boolean {
  if (error instanceof AppError) return error.status === 503;
  if (shortageIn(error) || isClickHouseAway(error)) return true;
  const code = (error as { code?: unknown } | null)?.code;
  // 08…: lost connections to Postgres
  return typeof code === "string" && (code === TIMEOUT || code.startsWith("08"));
}

/** Translates a storage failure to the error of the request. */
export function translate(error: unknown): Error {
  if (error instanceof AppError) return error;
  if (!isAway(error)) return coerceError(error);
  const reason = shortageIn(error)?.message ?? "The trace store cannot accept traces at the moment.";
  return unavailable(`${reason} Try again later.`, 2, error);
}
