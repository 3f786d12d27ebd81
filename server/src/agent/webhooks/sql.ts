import type { Sql } from "../../base/db/connect.ts";
import type { AccessCondition } from "../../base/auth/principal.ts";
import { permits } from "../custom-auth/conditions.ts";

export interface DueReceiver {
  receiver: string;
  /** Consecutive failures. */
  failures: number;
}

export function selectDueReceivers(sql: Sql, limit: number): Promise<DueReceiver[]> {
  return sql<DueReceiver[]>`select * from due_webhook_receivers(${limit})`;
}

export interface ClaimedDelivery {
  delivery_id: string;
  run_id: string;
  receiver: string;
  url: string;
  /** Counts all attempts; `tries` counts those since it was queued. */
  attempt: number;
  tries: number;
}

export function claimDeliveries(
  sql: Sql,
  from: { receiver: string; allowance: number }[],
  leaseMs: number,
): Promise<ClaimedDelivery[]> {
  return sql<ClaimedDelivery[]>`
    select * from claim_webhooks(${from.map((receiver) => receiver.receiver)}::text[],
                                 ${from.map((receiver) => receiver.allowance)}::int[], ${leaseMs})`;
}

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

export interface FinishedAttempt {
  deliveryId: string;
  attempt: number;
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  outcome: "delivered" | "failed" | "retry";
  retryMs: number;
  /** Whether the failure is the receiver's. */
  blame: boolean;
  /** Pause requested by the receiver. */
  pauseMs: number;
  firstPauseMs: number;
}

export async function finishAttempt(sql: Sql, a: FinishedAttempt): Promise<void> {
  await sql`
    select finish_webhook_attempt(${a.deliveryId}, ${a.attempt}, ${a.startedAt.toISOString()}::timestamptz, ${a.durationMs},
      ${a.statusCode}, ${a.error}, ${a.outcome}, ${a.retryMs}, ${String(a.blame)}::text::boolean, ${a.pauseMs}, ${a.firstPauseMs})`;
}

/** Hands back claimed deliveries whose attempt has not begun. */
export async function returnDeliveries(sql: Sql, ids: string[]): Promise<void> {
  await sql`
    update webhook_deliveries set attempts = attempts - 1, tries = tries - 1, available_at = now()
    where delivery_id = any(${ids}::uuid[]) and status = 'pending'`;
}

/**
 * Fails the deliveries of receivers that have not recovered in time.
 * @returns the number of failed deliveries
 */
export async function giveUpOld(sql: Sql, maxAgeHours: number): Promise<number> {
  const rows = await sql`
    update webhook_deliveries set status = 'failed', finished_at = now()
    where delivery_id in (
      select delivery_id from webhook_deliveries
      where status = 'pending' and queued_at < now() - make_interval(hours => ${maxAgeHours}) limit 1000)
    returning 1`;
  return rows.length;
}

/** @returns the number of deleted deliveries */
export async function deleteOld(sql: Sql, retentionHours: number): Promise<number> {
  const rows = await sql`
    delete from webhook_deliveries
    where delivery_id in (
      select delivery_id from webhook_deliveries
      where created_at < now() - make_interval(hours => ${retentionHours}) and status <> 'pending'
        and finished_at < now() - make_interval(hours => ${retentionHours}) limit 1000)
    returning 1`;
  return rows.length;
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

export interface DeliveryCounts {
  pending: number;
  paused_receivers: number;
}

export async function countDeliveries(sql: Sql): Promise<DeliveryCounts> {
  const [row] = await sql<DeliveryCounts[]>`
    select (select count(*)::int from webhook_deliveries where status = 'pending') as pending,
           (select count(*)::int from webhook_receivers where paused_until > now()) as paused_receivers`;
  return row!;
}
