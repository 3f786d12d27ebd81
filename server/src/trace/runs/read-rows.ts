import type { ClickHouseSettings } from "@clickhouse/client";

import { isClickHouseUnavailable, TIMEOUT } from "../../base/clickhouse/unavailable.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { type Fragment, render } from "../../base/clickhouse/fragment.ts";
import { AppError, unavailable } from "../../base/errors.ts";

/** Functions of the time and of chance. */
const DEPENDING = /\b(?:now|now64|today|yesterday|rand\w*|generateUUID\w*)\s*\(/i;

/**
 * Runs a caller's statement in its tenant's turn (`clickhouse.forTenant`). Throws 422 on a timeout, since a retry would
 * time out again; 503 when the store is unavailable, out of memory or overloaded.
 */
export async function readRows<T>(
  clickhouse: ClickHouse,
  name: string,
  statement: Fragment,
  settings: ClickHouseSettings = {},
): Promise<T[]> {
  const { limiter, tenantId } = clickhouse;
  const rendered = render(statement);
  const isRepeatable = !DEPENDING.test(rendered.query);
  const query = { name, ...rendered, isRepeatable, settings: { max_execution_time: limiter.seconds, ...settings } };
  try {
    return await limiter.run(() => clickhouse.rows<T>(query), tenantId);
  } catch (error) {
    throw translate(error, limiter.seconds);
  }
}

function translate(error: unknown, seconds: number): unknown {
  if ((error as { code?: unknown } | null)?.code === TIMEOUT) {
    const message = `The query took longer than ${seconds} s. Narrow its time range, or request less.`;
    return new AppError(422, message, { cause: error });
  }
  if (!isClickHouseUnavailable(error)) return error;
  const failure = unavailable("The trace store cannot answer queries at the moment. Try again later.", 2);
  failure.cause = error;
  return failure;
}
