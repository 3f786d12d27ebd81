/** SQL for the runs of an export in progress and the files they have written. */
import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { LeasedExport } from "./queue-sql.ts";
import type { Status } from "./status.ts";

export interface PendingExportRun {
  id: string;
  start_time: string;
  end_time: string;
  status: Status;
  retry_number: number;
  row_count: string;
}

/** Returns the next unfinished day after the one that began at `after`. */
export async function nextRun(sql: Sql, exportId: string, after: string | null): Promise<PendingExportRun | undefined> {
  const [row] = await sql<PendingExportRun[]>`
    select id, ${sql.unsafe(utcText("start_time"))} as start_time, ${sql.unsafe(utcText("end_time"))} as end_time, status,
      retry_number, row_count
    from bulk_export_runs r where bulk_export_id = ${exportId} and status in ('CREATED', 'RUNNING')
      and (${after === null} or r.start_time > ${after}::text::timestamptz)
    order by r.start_time limit 1`;
  return row;
}

/** Records the number of snapshot ids per day; empty days are completed at once. Keys of `days` are `YYYY-MM-DD`. */
export async function recordDays(sql: Transaction, exportId: string, days: Record<string, number>): Promise<void> {
  await sql`
    update bulk_export_runs r set
      row_count = c.n,
      status = case when c.n = 0 then 'COMPLETED' else r.status end,
      started_at = case when c.n = 0 then now() end,
      finished_at = case when c.n = 0 then now() end,
      updated_at = now()
    from (
      select o.id, coalesce((${JSON.stringify(days)}::text::jsonb
          ->> to_char(o.start_time at time zone 'UTC', 'YYYY-MM-DD'))::bigint, 0) as n
      from bulk_export_runs o where o.bulk_export_id = ${exportId} and o.status = 'CREATED') c
    where r.id = c.id`;
}

/** Fencing condition: every write names its attempt, and does nothing if that is no longer the current one. */
const mine = (sql: Sql | Transaction, { id, attempt }: LeasedExport) =>
  sql`exists (select 1 from bulk_exports e where e.id = ${id} and e.attempt = ${attempt} and e.status = 'RUNNING')`;

export async function startRun(sql: Sql, leased: LeasedExport, runId: string): Promise<boolean> {
  const { count } = await sql`
    update bulk_export_runs set status = 'RUNNING', started_at = coalesce(started_at, now()), updated_at = now()
    where id = ${runId} and status in ('CREATED', 'RUNNING') and ${mine(sql, leased)}`;
  return count === 1;
}

export async function endRun(sql: Sql, leased: LeasedExport, runId: string, status: Status): Promise<boolean> {
  const { count } = await sql`
    update bulk_export_runs set status = ${status}, finished_at = now(), updated_at = now()
    where id = ${runId} and status = 'RUNNING' and ${mine(sql, leased)}`;
  return count === 1;
}

/** Records a failure under `retry_N`. @returns the number of retries, including this one */
export async function noteFailure(sql: Sql, leased: LeasedExport, runId: string, message: string): Promise<number> {
  const [row] = await sql<{ retry_number: number }[]>`
    update bulk_export_runs set
      errors = coalesce(errors, '{}') || jsonb_build_object('retry_' || retry_number, ${message}::text),
      retry_number = retry_number + 1, updated_at = now()
    where id = ${runId} and ${mine(sql, leased)} returning retry_number`;
  return row?.retry_number ?? 0;
}

export interface FileRow {
  n: number;
  key: string | null;
  row_count: number;
  deleted_count: number;
  byte_count: number;
  sha256: string | null;
  /** RFC 3339, UTC. */
  min_start_time: string;
  max_start_time: string;
  /** End of the slice: `YYYY-MM-DD hh:mm:ss.ffffff` and an id. */
  last_start_time: string;
  last_id: string;
}

/** Records a completed file and removes its upload. Returns false when the attempt has lost the export. */
export async function insertFile(sql: Sql, leased: LeasedExport, runId: string, file: FileRow): Promise<boolean> {
  return sql.begin(async (tx) => {
    const { count } = await tx`
      insert into bulk_export_files (run_id, n, key, row_count, deleted_count, byte_count, sha256, min_start_time,
        max_start_time, last_start_time, last_id)
      select ${runId}, ${file.n}, ${file.key}, ${file.row_count}, ${file.deleted_count}, ${file.byte_count},
        ${file.sha256}, ${file.min_start_time}::text::timestamptz, ${file.max_start_time}::text::timestamptz,
        ${file.last_start_time}, ${file.last_id}::uuid
      where ${mine(tx, leased)}`;
    if (file.key !== null) await tx`delete from bulk_export_uploads where run_id = ${runId} and key = ${file.key}`;
    return count === 1;
  });
}

export async function lastFile(sql: Sql, runId: string): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    select n, key, row_count::float8 as row_count, deleted_count::float8 as deleted_count,
      byte_count::float8 as byte_count, sha256, last_start_time, last_id
    from bulk_export_files where run_id = ${runId} order by n desc limit 1`;
  return row;
}

export interface ExportedFile extends FileRow {
  run_id: string;
}

/** Lists a page of an export's files, in order. */
export async function selectFiles(
  sql: Sql,
  exportId: string,
  after: { start_time: string; n: number } | null,
  limit: number,
): Promise<(ExportedFile & { run_start_time: string })[]> {
  return sql<(ExportedFile & { run_start_time: string })[]>`
    select f.run_id, f.n, f.key, f.row_count::float8 as row_count, f.deleted_count::float8 as deleted_count,
      f.byte_count::float8 as byte_count, f.sha256, ${sql.unsafe(utcText("f.min_start_time"))} as min_start_time,
      ${sql.unsafe(utcText("f.max_start_time"))} as max_start_time, f.last_start_time, f.last_id,
      ${sql.unsafe(utcText("r.start_time"))} as run_start_time
    from bulk_export_runs r join bulk_export_files f on f.run_id = r.id
    where r.bulk_export_id = ${exportId}
      and (${after === null} or (r.start_time, f.n) > (${after?.start_time ?? null}::text::timestamptz, ${after?.n ?? 0}))
    order by r.start_time, f.n limit ${limit}`;
}

/**
 * Records a started upload, so that the next owner of the export can abort it. Returns false when the attempt has lost
 * the export.
 */
export async function insertUpload(
  sql: Sql,
  leased: LeasedExport,
  upload: { run_id: string; key: string; upload_id: string },
): Promise<boolean> {
  const { run_id, key, upload_id } = upload;
  const { count } = await sql`
    insert into bulk_export_uploads (run_id, key, upload_id)
    select ${run_id}::uuid, ${key}, ${upload_id} where ${mine(sql, leased)}`;
  return count === 1;
}

export interface UploadRow {
  run_id: string;
  key: string;
  upload_id: string;
}

export function selectUploads(sql: Sql, exportId: string): Promise<UploadRow[]> {
  return sql<UploadRow[]>`
    select u.run_id, u.key, u.upload_id from bulk_export_uploads u join bulk_export_runs r on r.id = u.run_id
    where r.bulk_export_id = ${exportId} limit 10000`;
}

export async function deleteUpload(sql: Sql, upload: UploadRow): Promise<void> {
  await sql`delete from bulk_export_uploads
    where run_id = ${upload.run_id} and key = ${upload.key} and upload_id = ${upload.upload_id}`;
}

/** Lists started but incomplete runs with their number of files, which determines the key of the next upload. */
export async function runsInBetween(
  sql: Sql,
  exportId: string,
): Promise<{ id: string; start_time: string; files: number }[]> {
  return sql<{ id: string; start_time: string; files: number }[]>`
    select r.id, ${sql.unsafe(utcText("start_time"))} as start_time,
      (select coalesce(max(n), 0) from bulk_export_files f where f.run_id = r.id) as files
    from bulk_export_runs r
    where bulk_export_id = ${exportId} and started_at is not null and row_count > 0 and status <> 'COMPLETED' limit 100`;
}

/** Lists days whose rows do not match the snapshot's count. */
export async function unevenRuns(
  sql: Sql,
  exportId: string,
): Promise<{ start_time: string; expected: string; found: string }[]> {
  return sql<{ start_time: string; expected: string; found: string }[]>`
    select ${sql.unsafe(utcText("r.start_time"))} as start_time, r.row_count as expected,
      coalesce(sum(f.row_count + f.deleted_count), 0)::bigint as found
    from bulk_export_runs r left join bulk_export_files f on f.run_id = r.id
    where r.bulk_export_id = ${exportId}
    group by r.id having r.row_count is distinct from coalesce(sum(f.row_count + f.deleted_count), 0)::bigint
    limit 10`;
}

/** Fails a run, in the transaction that fails its export. */
export async function failRun(sql: Transaction, runId: string): Promise<void> {
  await sql`update bulk_export_runs set status = 'FAILED', finished_at = now(), updated_at = now()
    where id = ${runId} and status in ('CREATED', 'RUNNING')`;
}
