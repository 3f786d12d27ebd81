/**
 * The export queue. One process at a time works on an export: it holds a lease that it renews every second, and every
 * write is conditional on its attempt number, so that a process that lost its lease writes nothing more.
 */
import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { FormatVersion } from "./columns.ts";
import type { Status } from "./status.ts";

/** Advisory lock that serializes admission, which counts running exports. Arbitrary, but unique to this purpose. */
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
  /** Null if it was cancelled before it started. */
  started_at: string | null;
}

/**
 * Claims the next export: a running one, one that may start because its workspace has fewer than `limit` running, or an
 * ended one that needs clean-up. Served by bulk_exports_to_do. Workspaces with the fewest held exports come first,
 * whatever others have queued; with `keepsRoom` only workspaces with none, if several are active.
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
      returning id, tenant_id, destination_id, session_id, ${tx.unsafe(utcText("start_time"))} as start_time,
        ${tx.unsafe(utcText("end_time"))} as end_time, filter, format_version, compression, export_fields, status, attempt,
        failures, snapshot_id, ${tx.unsafe(utcText("snapshot_at"))} as snapshot_at, row_count,
        ${tx.unsafe(utcText("started_at"))} as started_at`;
    return row;
  });
}

export type LeasedExport = Pick<ClaimedExport, "id" | "attempt">;

/** Renews the lease. @returns the status; undefined when another attempt owns the export */
export async function renewLease(
  sql: Sql,
  { id, attempt }: LeasedExport,
  leaseSeconds: number,
): Promise<Status | undefined> {
  const [row] = await sql<{ status: Status }[]>`
    update bulk_exports set lease_until = now() + make_interval(secs => ${leaseSeconds})
    where id = ${id} and attempt = ${attempt} returning status`;
  return row?.status;
}

/** @returns the status; undefined when another attempt owns the export */
export async function selectStatus(sql: Sql, { id, attempt }: LeasedExport): Promise<Status | undefined> {
  const [row] = await sql<{ status: Status }[]>`
    select status from bulk_exports where id = ${id} and attempt = ${attempt}`;
  return row?.status;
}

/** Releases the lease; the export can be claimed again after the pause. `error` is the reason, if any. */
export async function releaseExport(
  sql: Sql,
  { id, attempt }: LeasedExport,
  { pauseMs, error, failures }: { pauseMs: number; error?: string; failures?: number },
): Promise<void> {
  await sql`
    update bulk_exports set lease_until = null, not_before = now() + make_interval(secs => ${pauseMs / 1000}),
      error = coalesce(${error ?? null}, error), failures = coalesce(${failures ?? null}::int, failures)
    where id = ${id} and attempt = ${attempt}`;
}

/** Records the snapshot. @returns false when the attempt has lost the export or it is no longer running */
export async function recordSnapshot(
  sql: Transaction,
  { id, attempt }: LeasedExport,
  snapshot: { id: string; at: Date; rows: number },
): Promise<boolean> {
  const { count } = await sql`
    update bulk_exports set snapshot_id = ${snapshot.id}, snapshot_at = ${snapshot.at.toISOString()}::text::timestamptz, row_count = ${snapshot.rows},
      failures = 0, updated_at = now()
    where id = ${id} and attempt = ${attempt} and status = 'RUNNING' and snapshot_id is null`;
  return count === 1;
}

/** Seals the export: from now on it can only complete or fail. */
export async function sealExport(sql: Sql, { id, attempt }: LeasedExport): Promise<boolean> {
  const { count } = await sql`
    update bulk_exports set sealed_at = coalesce(sealed_at, now())
    where id = ${id} and attempt = ${attempt} and status = 'RUNNING'`;
  return count === 1;
}

/** Sets the final status. @returns false when it already has one, or another attempt owns it */
export async function endExport(
  sql: Sql | Transaction,
  { id, attempt }: LeasedExport,
  status: Status,
  error: string | null,
): Promise<boolean> {
  const { count } = await sql`
    update bulk_exports set status = ${status}, error = ${error}, finished_at = now(), updated_at = now()
    where id = ${id} and attempt = ${attempt} and status = 'RUNNING'`;
  return count === 1;
}

export async function markCleaned(sql: Sql, { id, attempt }: LeasedExport): Promise<void> {
  await sql`
    update bulk_exports set cleaned_at = now(), lease_until = null
    where id = ${id} and attempt = ${attempt}`;
}

/** Times out exports that started more than `hours` ago, with or without a lease. @returns their ids */
export async function timeOutExports(sql: Transaction, now: Date, hours: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update bulk_exports set status = 'TIMEDOUT', finished_at = now(), updated_at = now(), not_before = now(),
      error = 'It took longer than ' || ${hours}::text || ' hours.'
    where status = 'RUNNING' and interval_hours is null
      and started_at < ${now.toISOString()}::text::timestamptz - make_interval(hours => ${hours})
    returning id`;
  return rows.map((row) => row.id);
}

/** Lists snapshots that an export in progress may still need. */
export async function knownSnapshots(sql: Sql): Promise<string[]> {
  const rows = await sql<{ snapshot_id: string }[]>`
    select snapshot_id from bulk_exports where snapshot_id is not null and cleaned_at is null limit 100000`;
  return rows.map((row) => row.snapshot_id);
}
