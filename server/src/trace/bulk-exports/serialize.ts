import { withBucket } from "../export-destinations/bucket.ts";
import type { DestinationConfig } from "../export-destinations/schema.ts";
import { dayPath, exportPath } from "./paths.ts";
import type { ExportRow, ExportRunRow } from "./sql.ts";
import { formatStatus, type Status, type StatusCase } from "./status.ts";

interface Written {
  status: Status;
  row_count: string | null;
  rows_written: string;
  rows_deleted: string;
  bytes_written: string;
  files_written: string;
  started_at: string | null;
}

/** Derives percentage and expected end from the rows; rows deleted before they were written count as done. */
function computeProgress(row: Written, now: number) {
  const total = row.row_count === null ? null : Number(row.row_count);
  const done = Number(row.rows_written) + Number(row.rows_deleted);
  const part = row.status === "COMPLETED" ? 1 : total ? done / total : 0;
  const isGoing = row.status === "RUNNING" && row.started_at !== null && part > 0;
  const spent = isGoing ? now - Date.parse(row.started_at!) : 0;
  return {
    rows_total: total,
    rows_written: Number(row.rows_written),
    bytes_written: Number(row.bytes_written),
    files_written: Number(row.files_written),
    percent: Math.floor(part * 1000) / 10,
    estimated_end: isGoing ? new Date(now + spent * (1 / part - 1)).toISOString() : null,
  };
}

export function serializeExport(row: ExportRow, statusCase: StatusCase, now = Date.now()) {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    bulk_export_destination_id: row.bulk_export_destination_id,
    session_id: row.session_id,
    start_time: row.start_time,
    end_time: row.end_time,
    interval_hours: row.interval_hours,
    filter: row.filter,
    format: "Parquet",
    format_version: row.format_version,
    compression: row.compression,
    export_fields: row.export_fields,
    source_bulk_export_id: row.source_bulk_export_id,
    error: row.error,
    created_at: row.created_at,
    updated_at: row.updated_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    status: formatStatus(row.status, statusCase, row.interval_hours !== null),
    progress: computeProgress(row, now),
  };
}

export function serializeExportRun(
  row: ExportRunRow,
  destination: DestinationConfig,
  statusCase: StatusCase,
  now = Date.now(),
) {
  const prefix = withBucket(destination, exportPath(destination, row.bulk_export_id));
  const path = withBucket(destination, dayPath(destination, { ...row, export_id: row.bulk_export_id }));
  return {
    id: row.id,
    bulk_export_id: row.bulk_export_id,
    session_id: row.session_id,
    status: formatStatus(row.status, statusCase),
    retry_number: row.retry_number,
    errors: row.errors,
    created_at: row.created_at,
    updated_at: row.updated_at,
    finished_at: row.finished_at,
    start_time: row.start_time,
    end_time: row.end_time,
    metadata: {
      prefix,
      start_time: row.start_time,
      end_time: row.end_time,
      execution_backend: "clickhouse",
      result:
        row.status === "CREATED"
          ? null
          : {
              rows_written: Number(row.rows_written),
              bytes_written: Number(row.bytes_written),
              exported_files: (row.keys ?? []).map((key) => withBucket(destination, key)),
              export_path: path,
              latest_cursor: row.cursor,
              pending_upload: null,
            },
    },
    progress: computeProgress(row, now),
  };
}
