import type { Sql } from "../../base/db/connect.ts";
import { type AuditFilter, type AuditPosition, type AuditRow, selectAuditRows } from "./sql.ts";

export type ExportFormat = "ndjson" | "csv";

const BATCH = 500;

/** In the order of the columns of a CSV file. The seal goes along, so that an export can be held against the log. */
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

/** All lines that a filter lets through, oldest first, piece by piece: memory holds one batch. */
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

/** RFC 4180. */
const toCsv = (row: AuditRow): string => `${FIELDS.map((name) => cell(row[name])).join(",")}\r\n`;

function cell(value: AuditRow[keyof AuditRow]): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = value instanceof Date ? value.toISOString() : typeof value === "object" ? JSON.stringify(value) : value;
  // a spreadsheet takes these for formulas, and names are chosen by those who are recorded
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
