import type { Sql } from "../../base/db/connect.ts";
import { type AuditFilter, type AuditPosition, type AuditRow, selectAuditRows } from "./sql.ts";

export type ExportFormat = "ndjson" | "csv";

const BATCH = 500;

/** Columns of a CSV file, in order. The seal is included, so that an export can be compared with the log. */
const FIELDS = [
  "id",
  "at",
  "organization_id",
  "workspace_id",
  "actor_kind",
  "actor_id",
  "actor_name",
  "user_id",
  "ip",
  "operation",
  "operation_name",
  "target",
  "status",
  "occurrences",
  "request_id",
  "writer_id",
  "writer_seq",
  "seal_key_id",
  "seal",
] as const satisfies (keyof AuditRow)[];

/** Streams all entries that match a filter, oldest first. Holds one batch in memory. */
export async function* exportAuditLog(sql: Sql, filter: AuditFilter, format: ExportFormat): AsyncGenerator<string> {
  if (format === "csv") yield `${FIELDS.join(",")}\r\n`;
  let after: AuditPosition | undefined;
  do {
    const { rows, next } = await selectAuditRows(sql, filter, { after, limit: BATCH, oldestFirst: true });
    if (rows.length > 0) yield rows.map(format === "csv" ? toCsv : toJson).join("");
    after = next ?? undefined;
  } while (after);
}

const toJson = (row: AuditRow): string =>
  `${JSON.stringify(Object.fromEntries(FIELDS.map((name) => [name, row[name]])))}\n`;

/** Serializes a row according to RFC 4180. */
const toCsv = (row: AuditRow): string => `${FIELDS.map((name) => cell(row[name])).join(",")}\r\n`;

function cell(value: AuditRow[keyof AuditRow]): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = value instanceof Date ? value.toISOString() : typeof value === "object" ? JSON.stringify(value) : value;
  // spreadsheets evaluate these as formulas, and names are chosen by the audited callers
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
