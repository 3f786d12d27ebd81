/**
 * Exports as work. One process at a time works on an export: it holds a lease that it renews each second, and its
 * attempt's number is in the condition of everything that it writes, so that one that was away for too long writes
 * nothing more.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { FormatVersion } from "./columns.ts";
import type { Status } from "./status.ts";

/** An arbitrary number, ours alone: admission counts what runs, so two must not count at the same time. */
const ADMISSION_LOCK = 7_236_521;

export interface ClaimedExport {
  id: string;
  tenant_id: string;
  destination_id: string;
  session_id: string;
  start_time: string;
  end_time: string;
  filter: string | null;
  format_version: FormatVersion;
  compression: string;
  export_fields: string[] | null;
  status: Status;
  attempt: number;
  failures: number;
  snapshot_id: string | null;
  snapshot_at: string | null;
  row_count: string | null;
  /** Null of one that was cancelled before it began. */
  started_at: string | null;
}

const utc = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The next export to work on: one that runs, one that may begin because its workspace has less than `limit` running,
 * or one that is over and must be cleaned up after. bulk_exports_to_do finds them. The workspace that has fewest at work
 * comes first, however many another one has queued; with `keepsRoom` one that has none, where several are active.
 */
export function claimExport(
  sql: Sql,
  { limit, keepsRoom, leaseSeconds, now }: { limit: number; keepsRoom: boolean; leaseSeconds: number; now: Date },
): Promise<ClaimedExport | undefined> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${ADMISSION_LOCK})`;
    const [row] = await tx<ClaimedExport[]>`
      with busy as materialized (
        select tenant_id, count(*) filter (where status = 'RUNNING') as running,
          count(*) filter (where lease_until >= now()) as held
        from bulk_exports
        where interval_hours is null and (status = 'RUNNING' or lease_until >= now()) group by tenant_id
      ), active as materialized (
        select count(distinct tenant_id) as n from bulk_exports
        where interval_hours is null and created_at > now() - interval '7 days'
      )
      update bulk_exports e set
        attempt = attempt + 1,
        status = case when status = 'CREATED' then 'RUNNING' else status end,
        started_at = case when status = 'CREATED' then ${now.toISOString()}::text::timestamptz else started_at end,
        lease_until = now() + make_interval(secs => ${leaseSeconds}),
        updated_at = now()
      where id = (
        select w.id from bulk_exports w left join busy b on b.tenant_id = w.tenant_id
        where w.cleaned_at is null and w.interval_hours is null and w.not_before <= now()
          and (w.lease_until is null or w.lease_until < now())
          and (w.status <> 'CREATED' or ${limit} > coalesce(b.running, 0))
          and (not ${keepsRoom}::boolean or coalesce(b.held, 0) = 0 or (select n from active) < 2)
        order by coalesce(b.held, 0), w.not_before, w.created_at limit 1
        for update of w skip locked)
      returning id, tenant_id, destination_id, session_id, ${tx.unsafe(utc("start_time"))} as start_time,
        ${tx.unsafe(utc("end_time"))} as end_time, filter, format_version, compression, export_fields, status, attempt,
        failures, snapshot_id, ${tx.unsafe(utc("snapshot_at"))} as snapshot_at, row_count,
        ${tx.unsafe(utc("started_at"))} as started_at`;
    return row;
  });
}

export type Held = Pick<ClaimedExport, "id" | "attempt">;

/** @returns the status; undefined when the export is somebody else's */
export async function renewLease(sql: Sql, { id, attempt }: Held, leaseSeconds: number): Promise<Status | undefined> {
  const [row] = await sql<{ status: Status }[]>`
    update bulk_exports set lease_until = now() + make_interval(secs => ${leaseSeconds})
    where id = ${id} and attempt = ${attempt} returning status`;
  return row?.status;
}

/** @returns undefined when the export is somebody else's */
export async function statusOf(sql: Sql, { id, attempt }: Held): Promise<Status | undefined> {
  const [row] = await sql<{ status: Status }[]>`
    select status from bulk_exports where id = ${id} and attempt = ${attempt}`;
  return row?.status;
}

/** Gives it back, to be taken up after a pause; `error` where one is the reason. */
export async function releaseExport(
  sql: Sql,
  { id, attempt }: Held,
  { pauseMs, error, failures }: { pauseMs: number; error?: string; failures?: number },
): Promise<void> {
  await sql`
    update bulk_exports set lease_until = null, not_before = now() + make_interval(secs => ${pauseMs / 1000}),
      error = coalesce(${error ?? null}, error), failures = coalesce(${failures ?? null}::int, failures)
    where id = ${id} and attempt = ${attempt}`;
}

/** @returns whether it was still ours, and running */
export async function recordSnapshot(
  sql: Transaction,
  { id, attempt }: Held,
  snapshot: { id: string; at: Date; rows: number },
): Promise<boolean> {
  const { count } = await sql`
    update bulk_exports set snapshot_id = ${snapshot.id}, snapshot_at = ${snapshot.at.toISOString()}::text::timestamptz, row_count = ${snapshot.rows},
      failures = 0, updated_at = now()
    where id = ${id} and attempt = ${attempt} and status = 'RUNNING' and snapshot_id is null`;
  return count === 1;
}

/** From now on it can only be completed, or fail. */
export async function sealExport(sql: Sql, { id, attempt }: Held): Promise<boolean> {
  const { count } = await sql`
    update bulk_exports set sealed_at = coalesce(sealed_at, now())
    where id = ${id} and attempt = ${attempt} and status = 'RUNNING'`;
  return count === 1;
}

/** Its final status. @returns false when it has one, or is somebody else's */
export async function endExport(
  sql: Sql | Transaction,
  { id, attempt }: Held,
  status: Status,
  error: string | null,
): Promise<boolean> {
  const { count } = await sql`
    update bulk_exports set status = ${status}, error = ${error}, finished_at = now(), updated_at = now()
    where id = ${id} and attempt = ${attempt} and status = 'RUNNING'`;
  return count === 1;
}

export async function markCleaned(sql: Sql, { id, attempt }: Held): Promise<void> {
  await sql`
    update bulk_exports set cleaned_at = now(), lease_until = null
    where id = ${id} and attempt = ${attempt}`;
}

/** Runs that took longer than 72 hours in all, whether anybody works on them or not. @returns their ids */
export async function timeOutExports(sql: Transaction, now: Date, hours: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update bulk_exports set status = 'TIMEDOUT', finished_at = now(), updated_at = now(), not_before = now(),
      error = 'It took longer than ' || ${hours}::text || ' hours.'
    where status = 'RUNNING' and interval_hours is null
      and started_at < ${now.toISOString()}::text::timestamptz - make_interval(hours => ${hours})
    returning id`;
  return rows.map((row) => row.id);
}

/** Snapshots that an export under way may still need. */
export async function knownSnapshots(sql: Sql): Promise<string[]> {
  const rows = await sql<{ snapshot_id: string }[]>`
    select snapshot_id from bulk_exports where snapshot_id is not null and cleaned_at is null limit 100000`;
  return rows.map((row) => row.snapshot_id);
}
