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

/** Whether tenants have attachments, by client of an embedded engine, into which only this process inserts. */
const known = new WeakMap<object, Map<string, Promise<boolean>>>();

function knownTenants({ client }: ClickHouse): Map<string, Promise<boolean>> {
  const tenants = known.get(client) ?? new Map<string, Promise<boolean>>();
  known.set(client, tenants);
  return tenants;
}

export function insertAttachments(clickhouse: ClickHouse, rows: readonly AttachmentRow[]): Promise<void> {
  const tenants = knownTenants(clickhouse);
  for (const { tenant_id } of rows) tenants.set(tenant_id, Promise.resolve(true));
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  return clickhouse.insert("run_attachments", COLUMNS, Buffer.from(lines));
}

/** Whether the tenant may have attachments. Most have none, and then the runs of a page need no statement for theirs. */
function mayHaveAttachments(clickhouse: ClickHouse, tenantId: string): Promise<boolean> {
  if (!clickhouse.embedded) return Promise.resolve(true);
  const tenants = knownTenants(clickhouse);
  const found = tenants.get(tenantId);
  if (found) return found;
  const query = {
    name: "run_attachments.any",
    query: "select 1 as any from run_attachments where tenant_id = {tenant:UUID} limit 1",
    params: { tenant: tenantId },
  };
  const asked = clickhouse.rows(query).then((rows) => rows.length > 0);
  tenants.set(tenantId, asked);
  // an insert meanwhile has its own answer
  asked.catch(() => tenants.get(tenantId) === asked && tenants.delete(tenantId));
  return asked;
}

/** Returns the attachments of runs by id, sorted by name. */
export async function findAttachments(
  clickhouse: ClickHouse,
  tenantId: string,
  runIds: readonly string[],
): Promise<AttachmentRow[]> {
  if (runIds.length === 0 || !(await mayHaveAttachments(clickhouse, tenantId))) return [];
  return clickhouse.rows<AttachmentRow>({
    name: "run_attachments.find",
    query: `select * from run_attachments final
      where tenant_id = {tenant:UUID} and run_id in {runs:Array(UUID)} order by run_id, name limit 100000`,
    params: { tenant: tenantId, runs: runIds },
    isRepeatable: true,
  });
}
