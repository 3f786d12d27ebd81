import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";

/** Row of `run_attachments`. */
export interface AttachmentRow {
  tenant_id: string;
  run_id: string;
  name: string;
  mime_type: string;
  size: number;
  blob: string;
  uploaded_at: string;
}

const COLUMNS = ["tenant_id", "run_id", "name", "mime_type", "size", "blob", "uploaded_at"];

export const insertAttachments = (clickhouse: ClickHouse, rows: readonly AttachmentRow[]): Promise<void> =>
  clickhouse.insert("run_attachments", COLUMNS, Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join("")));

/** Returns the attachments of runs by id, sorted by name. */
export function findAttachments(
  clickhouse: ClickHouse,
  tenantId: string,
  runIds: readonly string[],
): Promise<AttachmentRow[]> {
  if (runIds.length === 0) return Promise.resolve([]);
  return clickhouse.rows<AttachmentRow>({
    name: "run_attachments.find",
    query: `select * from run_attachments final
      where tenant_id = {tenant:UUID} and run_id in {runs:Array(UUID)} order by run_id, name limit 100000`,
    params: { tenant: tenantId, runs: runIds },
    isRepeatable: true,
  });
}
