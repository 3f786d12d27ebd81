/** SQL of the export endpoints. Statements for exports in progress are in queue-sql.ts and files-sql.ts. */
import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { FormatVersion } from "./columns.ts";
import type { Status } from "./status.ts";

/** Times are RFC 3339 in UTC with six digits. Counts are text, because they may exceed 2^53. */
export interface ExportRow {
  id: string;
  tenant_id: string;
  bulk_export_destination_id: string;
  session_id: string;
  start_time: string;
  end_time: string | null;
  interval_hours: number | null;
  filter: string | null;
  format_version: FormatVersion;
  compression: string;
  export_fields: string[] | null;
  source_bulk_export_id: string | null;
  status: Status;
  error: string | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
  row_count: string | null;
  rows_written: string;
  rows_deleted: string;
  bytes_written: string;
  files_written: string;
}

const EXPORT = `e.id, e.tenant_id, e.destination_id as bulk_export_destination_id, e.session_id,
  ${utcText("e.start_time")} as start_time, ${utcText("e.end_time")} as end_time, e.interval_hours, e.filter, e.format_version,
  e.compression, e.export_fields, e.source_bulk_export_id, e.status, e.error, ${utcText("e.created_at")} as created_at,
  ${utcText("e.updated_at")} as updated_at, ${utcText("e.started_at")} as started_at,
  ${utcText("e.finished_at")} as finished_at, e.row_count, d.*`;

const WRITTEN = `coalesce(sum(f.row_count), 0)::bigint as rows_written,
  coalesce(sum(f.deleted_count), 0)::bigint as rows_deleted,
  coalesce(sum(f.byte_count), 0)::bigint as bytes_written, count(f.key) as files_written`;

const WRITTEN_OF_EXPORT = `lateral (
  select ${WRITTEN} from bulk_export_runs r join bulk_export_files f on f.run_id = r.id where r.bulk_export_id = e.id) d`;

export async function findExport(sql: Sql | Transaction, tenantId: string, id: string): Promise<ExportRow | undefined> {
  const [row] = await sql<ExportRow[]>`
    select ${sql.unsafe(EXPORT)} from bulk_exports e, ${sql.unsafe(WRITTEN_OF_EXPORT)}
    where e.tenant_id = ${tenantId} and e.id = ${id}`;
  return row;
}

/** Lists exports, newest first. Served by bulk_exports_by_tenant. */
export function listExports(sql: Sql, tenantId: string, limit: number, offset: number): Promise<ExportRow[]> {
  return sql<ExportRow[]>`
    select ${sql.unsafe(EXPORT)} from (
      select * from bulk_exports where tenant_id = ${tenantId}
      order by created_at desc, id desc limit ${limit} offset ${offset}) e, ${sql.unsafe(WRITTEN_OF_EXPORT)}
    order by e.created_at desc, e.id desc`;
}

export interface ExportRunRow {
  id: string;
  bulk_export_id: string;
  tenant_id: string;
  session_id: string;
  destination_id: string;
  status: Status;
  retry_number: number;
  errors: Record<string, string> | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
  start_time: string;
  end_time: string;
  row_count: string | null;
  rows_written: string;
  rows_deleted: string;
  bytes_written: string;
  files_written: string;
  keys: string[] | null;
  cursor: string | null;
}

const RUN = `r.id, r.bulk_export_id, e.tenant_id, e.session_id, e.destination_id, r.status, r.retry_number, r.errors,
  ${utcText("r.created_at")} as created_at, ${utcText("r.updated_at")} as updated_at, ${utcText("r.started_at")} as started_at,
  ${utcText("r.finished_at")} as finished_at, ${utcText("r.start_time")} as start_time, ${utcText("r.end_time")} as end_time,
  r.row_count, d.*`;

const WRITTEN_OF_RUN = `lateral (
  select ${WRITTEN}, array_agg(f.key order by f.n) filter (where f.key is not null) as keys,
    (array_agg(f.last_start_time || ' ' || f.last_id order by f.n desc))[1] as cursor
  from bulk_export_files f where f.run_id = r.id) d`;

/** Lists runs by time. `selector` selects one export, or all exports of a schedule. */
export function listExportRuns(
  sql: Sql,
  tenantId: string,
  selector: { exportId: string } | { scheduleId: string },
  page: { limit: number; offset: number; runId?: string },
): Promise<ExportRunRow[]> {
  const condition =
    "exportId" in selector ? sql`e.id = ${selector.exportId}` : sql`e.source_bulk_export_id = ${selector.scheduleId}`;
  return sql<ExportRunRow[]>`
    select ${sql.unsafe(RUN)}
    from bulk_exports e join bulk_export_runs r on r.bulk_export_id = e.id, ${sql.unsafe(WRITTEN_OF_RUN)}
    where e.tenant_id = ${tenantId} and ${condition}
      and ${page.runId === undefined ? sql`true` : sql`r.id = ${page.runId}`}
    order by r.start_time, r.id limit ${page.limit} offset ${page.offset}`;
}

export interface NewExport {
  id: string;
  tenant_id: string;
  destination_id: string;
  session_id: string;
  start_time: string;
  end_time: string | null;
  interval_hours: number | null;
  filter: string | null;
  format_version: string;
  compression: string;
  export_fields: string[] | null;
  status: Status;
}

export async function insertExport(sql: Transaction, exportRow: NewExport): Promise<void> {
  await sql`
    insert into bulk_exports (id, tenant_id, destination_id, session_id, start_time, end_time, interval_hours, filter,
      format_version, compression, export_fields, status)
    values (${exportRow.id}, ${exportRow.tenant_id}, ${exportRow.destination_id}, ${exportRow.session_id}, ${exportRow.start_time}::text::timestamptz,
      ${exportRow.end_time}::text::timestamptz, ${exportRow.interval_hours}, ${exportRow.filter}, ${exportRow.format_version},
      ${exportRow.compression}, ${exportRow.export_fields}::text[], ${exportRow.status})`;
}

/** Inserts a run for each UTC day that the window touches. */
export async function insertExportRuns(sql: Transaction, exportId: string): Promise<void> {
  await sql`
    insert into bulk_export_runs (id, bulk_export_id, start_time, end_time, status)
    select gen_random_uuid(), e.id, greatest(e.start_time, day), least(e.end_time, day + interval '1 day'), 'CREATED'
    from bulk_exports e, generate_series(date_trunc('day', e.start_time, 'UTC'), e.end_time, interval '1 day') as day
    where e.id = ${exportId} and day < e.end_time
    order by day`;
}

/** Cancels an export. @returns the previous status; undefined when it has ended or is being completed */
export async function cancelExport(
  sql: Transaction,
  tenantId: string,
  id: string,
): Promise<{ was: Status } | undefined> {
  const [row] = await sql<{ was: Status }[]>`
    update bulk_exports e set status = 'CANCELLED', finished_at = now(), updated_at = now(), not_before = now()
    from (select id, status as was from bulk_exports where tenant_id = ${tenantId} and id = ${id} for update) before
    where e.id = before.id and e.status in ('CREATED', 'RUNNING') and e.sealed_at is null
    returning before.was`;
  return row;
}

/** Ends the unfinished runs of an ended export. */
export async function endRuns(sql: Sql | Transaction, exportId: string, status: Status): Promise<void> {
  await sql`
    update bulk_export_runs set status = ${status}, finished_at = now(), updated_at = now()
    where bulk_export_id = ${exportId} and status in ('CREATED', 'RUNNING')`;
}

/** Returns the tenant, the destination and the number of ids of the query, for the operator. */
export async function findExportRecord(
  sql: Sql,
  id: string,
): Promise<{ tenant_id: string; destination_id: string; row_count: string | null } | undefined> {
  const [row] = await sql<{ tenant_id: string; destination_id: string; row_count: string | null }[]>`
    select tenant_id, destination_id, row_count from bulk_exports where id = ${id}`;
  return row;
}

/** Counts exports without schedules, and their days, by status. */
export async function countExports(sql: Sql): Promise<Record<"exports" | "runs", Record<string, number>>> {
  const rows = await sql<{ kind: "exports" | "runs"; status: string; count: number }[]>`
    select 'exports' as kind, status, count(*)::int as count from bulk_exports
    where interval_hours is null group by status
    union all
    select 'runs', status, count(*)::int from bulk_export_runs group by status limit 100`;
  const of = (kind: "exports" | "runs") =>
    Object.fromEntries(rows.filter((row) => row.kind === kind).map(({ status, count }) => [status, count]));
  return { exports: of("exports"), runs: of("runs") };
}

/** Counts the exports' days that failed in a period. */
export async function countFailedExports(sql: Sql, since: Date, until: Date): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from bulk_export_runs
    where status in ('FAILED', 'TIMEDOUT') and finished_at > ${since.toISOString()}::text::timestamptz
      and finished_at <= ${until.toISOString()}::text::timestamptz`;
  return row!.count;
}
