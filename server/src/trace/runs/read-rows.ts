import type { ClickHouseSettings } from "@clickhouse/client";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { type Fragment, render } from "../../base/clickhouse/fragment.ts";
import { AppError, unavailable } from "../../base/errors.ts";

/**
 * The rows of a statement that a caller asks for, in its turn among its tenant's (`clickhouse.askedBy`). 422 when it takes too long, because the same would
 * again; 503 when the store is away, has no memory left, or is asked too much.
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

/** ClickHouse's codes: no thread or connection, network, read-only, memory, shutting down, too many queries. */
const AWAY = new Set(["202", "203", "209", "210", "236", "241", "242", "279", "439", "735"]);
const TIMEOUT = "159";

function translate(error: unknown, seconds: number): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== "string") return error;
  if (code === TIMEOUT) {
    const message = `The query took longer than ${seconds} s. Bound its start time, or ask for less.`;
    return new AppError(422, message, { cause: error });
  }
  // E…: Node's codes of a connection that can't be made or broke
  if (!AWAY.has(code) && !code.startsWith("E")) return error;
  const away = unavailable("The trace store can't answer this now. Try again later.", 2);
  away.cause = error;
  return away;
}
