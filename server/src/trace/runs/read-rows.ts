import type { ClickHouseSettings } from "@clickhouse/client";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { type Fragment, render } from "../../base/clickhouse/fragment.ts";
import { AppError, unavailable } from "../../base/errors.ts";

/**
 * Runs a caller's statement in its tenant's turn (`clickhouse.askedBy`). Throws 422 on a timeout, since a retry would
 * time out again; 503 when the store is unavailable, out of memory or overloaded.
 */
export async function readRows<T>(
  clickhouse: ClickHouse,
  name: string,
  statement: Fragment,
  settings: ClickHouseSettings = {},
): Promise<T[]> {
  const { questions, tenantId } = clickhouse;
  const query = { name, ...render(statement), settings: { max_execution_time: questions.seconds, ...settings } };
  try {
    return await questions.ask(() => clickhouse.rows<T>(query), tenantId);
  } catch (error) {
    throw translate(error, questions.seconds);
  }
}

/** ClickHouse codes: no thread or connection, network, read-only, memory, shutting down, too many queries. */
const AWAY = new Set(["202", "203", "209", "210", "236", "241", "242", "279", "439", "735"]);
const TIMEOUT = "159";

function translate(error: unknown, seconds: number): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== "string") return error;
  if (code === TIMEOUT) {
    const message = `The query took longer than ${seconds} s. Narrow its time range, or request less.`;
    return new AppError(422, message, { cause: error });
  }
  // E…: Node's codes for failed or broken connections
  if (!AWAY.has(code) && !code.startsWith("E")) return error;
  const away = unavailable("The trace store cannot answer queries at the moment. Try again later.", 2);
  away.cause = error;
  return away;
}
