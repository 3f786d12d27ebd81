import type { Sql } from "../../base/db/connect.ts";
import type { AccessCondition } from "../../base/auth/principal.ts";
import type { WebhookTables } from "../../base/webhooks/sql.ts";
import { permits } from "../custom-auth/conditions.ts";

/** Tables of the messages about runs. */
export const RUN_WEBHOOKS: WebhookTables = {
  deliveries: "webhook_deliveries",
  attempts: "webhook_attempts",
  receivers: "webhook_receivers",
};

export interface WebhookMessage {
  /** JSON text, without the send time. */
  text: string;
  /** Trace of the request that created the run. */
  traceparent: string | null;
  tracestate: string | null;
}

/** @returns undefined when the delivery has been deleted */
export async function selectMessage(sql: Sql, deliveryId: string): Promise<WebhookMessage | undefined> {
  const [row] = await sql<(Omit<WebhookMessage, "text"> & { payload: string; state: string | null })[]>`
    select webhook_message(delivery_id) as payload, state::text as state,
      run_kwargs #>> '{trace,traceparent}' as traceparent,
      run_kwargs #>> '{trace,tracestate}' as tracestate
    from webhook_deliveries where delivery_id = ${deliveryId}`;
  if (!row) return undefined;
  const { payload, state, ...trace } = row;
  return { ...trace, text: state === null ? payload : `${payload.slice(0, -1)},"values":${state}}` };
}

export interface DeliveryRow {
  delivery_id: string;
  run_id: string;
  thread_id: string;
  run_status: string;
  url: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  created_at: Date;
  next_attempt_at: Date | null;
  finished_at: Date | null;
}

export interface DeliveryFilter {
  runId?: string | undefined;
  status?: DeliveryRow["status"] | undefined;
  /** Conditions on the metadata of the run's thread. */
  sees: readonly AccessCondition[];
  limit: number;
  offset: number;
}

/** A delivery has the id of its run, unless it was queued before that rule: index webhook_deliveries_by_run. */
const ofRun = (sql: Sql, id: string) => sql`(delivery_id = ${id} or (run_id = ${id} and delivery_id <> run_id))`;

/** Newest first. Index webhook_deliveries_by_creation. */
export function selectDeliveries(sql: Sql, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    select delivery_id, run_id, thread_id, run_status, url, status, attempts, created_at, finished_at,
           case when status = 'pending' then available_at end as next_attempt_at
    from webhook_deliveries
    where ${filter.runId ? ofRun(sql, filter.runId) : sql`true`}
      and ${filter.status ? sql`status = ${filter.status}` : sql`true`}
      and ${permits(sql, "thread_metadata", filter.sees)}
    order by created_at desc, delivery_id desc limit ${filter.limit} offset ${filter.offset}`;
}

export interface AttemptRow {
  attempt: number;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
}

export async function selectDelivery(
  sql: Sql,
  id: string,
  sees: readonly AccessCondition[],
): Promise<(DeliveryRow & { log: AttemptRow[] }) | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    select delivery_id, run_id, thread_id, run_status, url, status, attempts, created_at, finished_at,
           case when status = 'pending' then available_at end as next_attempt_at
    from webhook_deliveries where delivery_id = ${id} and ${permits(sql, "thread_metadata", sees)}`;
  if (!row) return undefined;
  const log = await sql<AttemptRow[]>`
    select attempt, started_at, duration_ms, status_code, error from webhook_attempts
    where delivery_id = ${id} order by attempt desc limit 1000`;
  return { ...row, log };
}

/**
 * Queues the delivery again, with a new set of attempts.
 * @returns false when it does not exist
 */
export async function requeueDelivery(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`
    update webhook_deliveries
    set status = 'pending', tries = 0, queued_at = now(), available_at = now(), finished_at = null
    where delivery_id = ${id} returning receiver`;
  return rows.length > 0;
}
