/**
 * Statements on a space's tables of messages, their attempts and their failing receivers. The columns that they use are
 * the same in each space; what a message says is in further ones.
 */
import type { Sql } from "../db/connect.ts";

/** Names of a space's tables. */
export interface WebhookTables {
  deliveries: string;
  attempts: string;
  receivers: string;
}

export interface DueReceiver {
  receiver: string;
  /** Consecutive failures. */
  failures: number;
}

/**
 * Receivers with due deliveries that are not paused. The recursion steps from one receiver to the next in the index
 * (receiver, available_at) of pending deliveries, to the first due row of each, so that ten thousand rows of a dead
 * receiver cost no more than one. The statement does not join the deliveries, since a plan made while the table was empty
 * would read all later rows.
 */
export function selectDueReceivers(sql: Sql, tables: WebhookTables, limit: number): Promise<DueReceiver[]> {
  const deliveries = sql(tables.deliveries);
  return sql<DueReceiver[]>`
    with recursive waiting as (
      (select d.receiver, d.available_at from ${deliveries} d
       where d.status = 'pending' order by d.receiver, d.available_at limit 1)
      union all
      select n.receiver, n.available_at
      from waiting w cross join lateral (
        select d.receiver, d.available_at from ${deliveries} d
        where d.status = 'pending' and d.receiver > w.receiver order by d.receiver, d.available_at limit 1) n
    )
    select w.receiver, coalesce(h.failures, 0) as failures
    from waiting w left join ${sql(tables.receivers)} h on h.receiver = w.receiver
    where w.available_at <= now() and (h.paused_until is null or h.paused_until <= now())
    order by random()
    limit ${limit}`;
}

export interface ClaimedDelivery {
  delivery_id: string;
  receiver: string;
  url: string;
  /** Counts all attempts; `tries` counts those since it was queued. */
  attempt: number;
  tries: number;
}

/** Claims up to a number of deliveries per receiver under a lease; another sender takes them over when it expires. */
export function claimDeliveries(
  sql: Sql,
  tables: WebhookTables,
  from: { receiver: string; allowance: number }[],
  leaseMs: number,
): Promise<ClaimedDelivery[]> {
  const deliveries = sql(tables.deliveries);
  return sql<ClaimedDelivery[]>`
    with picked as (
      select p.delivery_id
      from unnest(${from.map(({ receiver }) => receiver)}::text[], ${from.map(({ allowance }) => allowance)}::int[])
        as u (receiver, allowance)
      cross join lateral (
        select d.delivery_id from ${deliveries} d
        where d.status = 'pending' and d.receiver = u.receiver and d.available_at <= now()
        order by d.available_at limit u.allowance
        for update skip locked
      ) p
    )
    update ${deliveries} d
    set attempts = d.attempts + 1, tries = d.tries + 1,
        available_at = now() + make_interval(secs => ${leaseMs}::double precision / 1000)
    from picked p where d.delivery_id = p.delivery_id
    returning d.delivery_id, d.receiver, d.url, d.attempts as attempt, d.tries`;
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

/**
 * Records the outcome of an attempt. A receiver that is to blame is paused after the fifth consecutive failure, twice as
 * long each time, at most five minutes; then one delivery probes it. A success deletes the receiver's row.
 */
export async function finishAttempt(sql: Sql, tables: WebhookTables, a: FinishedAttempt): Promise<void> {
  const [deliveries, receivers] = [sql(tables.deliveries), sql(tables.receivers)];
  const failures = a.blame ? 1 : 0;
  const lastError = a.error ?? `The receiver responded with status ${a.statusCode}.`;
  const health =
    a.outcome === "delivered"
      ? sql`delete from ${receivers} h using delivery d where h.receiver = d.receiver`
      : sql`
        insert into ${receivers} as h (receiver, failures, last_error, paused_until)
        select d.receiver, ${failures}::int, ${lastError}::text,
               case when ${a.pauseMs}::double precision > 0
                    then now() + make_interval(secs => ${a.pauseMs}::double precision / 1000) end
        from delivery d
        on conflict (receiver) do update
        set failures = case when ${failures}::int = 1 then h.failures + 1 else 0 end, updated_at = now(),
            last_error = excluded.last_error,
            paused_until = greatest(
              case when ${failures}::int = 1 or ${a.pauseMs}::double precision > 0 then h.paused_until end,
              excluded.paused_until,
              case when ${failures}::int = 1 and h.failures >= 4 then now() + make_interval(secs =>
                least(300, ${a.firstPauseMs}::double precision / 1000 * power(2, least(h.failures - 4, 20)))
                  * (0.75 + random() / 2)) end)`;
  await sql`
    with finished as (
      update ${deliveries} d
      set status = ${a.outcome === "retry" ? "pending" : a.outcome},
          available_at = now() + make_interval(secs => ${a.retryMs}::double precision / 1000),
          finished_at = case when ${a.outcome} = 'retry' then null else now() end
      where d.delivery_id = ${a.deliveryId} and d.attempts = ${a.attempt} and d.status = 'pending'
    ), delivery as materialized (
      select d.delivery_id, d.receiver from ${deliveries} d where d.delivery_id = ${a.deliveryId}
    ), attempt as (
      insert into ${sql(tables.attempts)} (delivery_id, attempt, started_at, duration_ms, status_code, error)
      select d.delivery_id, ${a.attempt}, ${a.startedAt.toISOString()}::timestamptz, ${a.durationMs}, ${a.statusCode},
             ${a.error}
      from delivery d
      on conflict do nothing
    )
    ${health}`;
}

/** Hands back claimed deliveries whose attempt has not begun. */
export async function returnDeliveries(sql: Sql, tables: WebhookTables, ids: string[]): Promise<void> {
  await sql`
    update ${sql(tables.deliveries)} set attempts = attempts - 1, tries = tries - 1, available_at = now()
    where delivery_id = any(${ids}::uuid[]) and status = 'pending'`;
}

/**
 * Fails the deliveries of receivers that have not recovered in time.
 * @returns the number of failed deliveries
 */
export async function giveUpOld(sql: Sql, tables: WebhookTables, maxAgeHours: number): Promise<number> {
  const deliveries = sql(tables.deliveries);
  const rows = await sql`
    update ${deliveries} set status = 'failed', finished_at = now()
    where delivery_id in (
      select delivery_id from ${deliveries}
      where status = 'pending' and queued_at < now() - make_interval(hours => ${maxAgeHours}) limit 1000)
    returning 1`;
  return rows.length;
}

/** @returns the number of deleted deliveries */
export async function deleteOld(sql: Sql, tables: WebhookTables, retentionHours: number): Promise<number> {
  const deliveries = sql(tables.deliveries);
  const rows = await sql`
    delete from ${deliveries}
    where delivery_id in (
      select delivery_id from ${deliveries}
      where created_at < now() - make_interval(hours => ${retentionHours}) and status <> 'pending'
        and finished_at < now() - make_interval(hours => ${retentionHours}) limit 1000)
    returning 1`;
  return rows.length;
}

/**
 * Deletes receivers that have failed, but have got no message for a time and have none to get.
 * @returns the number of deleted receivers
 */
export async function deleteIdleReceivers(sql: Sql, tables: WebhookTables, retentionHours: number): Promise<number> {
  const rows = await sql`
    delete from ${sql(tables.receivers)}
    where receiver in (
      select h.receiver from ${sql(tables.receivers)} h
      where h.updated_at < now() - make_interval(hours => ${retentionHours})
        and not exists (select 1 from ${sql(tables.deliveries)} d where d.status = 'pending' and d.receiver = h.receiver)
      limit 1000)
    returning 1`;
  return rows.length;
}

export interface DeliveryCounts {
  pending: number;
  paused_receivers: number;
}

export async function countDeliveries(sql: Sql, tables: WebhookTables): Promise<DeliveryCounts> {
  const [row] = await sql<DeliveryCounts[]>`
    select (select count(*)::int from ${sql(tables.deliveries)} where status = 'pending') as pending,
           (select count(*)::int from ${sql(tables.receivers)} where paused_until > now()) as paused_receivers`;
  return row!;
}
