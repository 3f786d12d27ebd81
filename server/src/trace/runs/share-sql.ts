import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface Share {
  share_token: string;
  tenant_id: string;
  project_id: string;
  trace_id: string;
}

/** Returns share tokens by trace. */
export async function findShares(sql: Sql, tenantId: string, traceIds: string[]): Promise<Map<string, string>> {
  if (traceIds.length === 0) return new Map();
  const rows = await sql<Share[]>`
    select trace_id, share_token from trace_shares
    where tenant_id = ${tenantId} and trace_id = any(${traceIds}::uuid[])`;
  return new Map(rows.map((row) => [row.trace_id, row.share_token]));
}

/** Finds the share of a token, of any tenant: the token is the credential. */
export async function findShare(sql: Sql, token: string): Promise<Share | undefined> {
  const [row] = await sql<Share[]>`
    select share_token, tenant_id, project_id, trace_id from trace_shares where share_token = ${token}`;
  return row;
}

/** Inserts a share. A trace already shared keeps its token. @returns undefined when another trace has the token */
export async function insertShare(sql: Sql, share: Share): Promise<string | undefined> {
  const [created] = await sql<{ share_token: string }[]>`
    insert into trace_shares (share_token, tenant_id, project_id, trace_id)
    values (${share.share_token}, ${share.tenant_id}, ${share.project_id}, ${share.trace_id})
    on conflict do nothing
    returning share_token`;
  if (created) return created.share_token;
  return (await findShares(sql, share.tenant_id, [share.trace_id])).get(share.trace_id);
}

export async function deleteShare(sql: Sql, tenantId: string, traceId: string): Promise<void> {
  await sql`delete from trace_shares where tenant_id = ${tenantId} and trace_id = ${traceId}`;
}

/** Deletes the shares of traces, in any project or in these. */
export async function deleteTraceShares(
  sql: Sql | Transaction,
  tenantId: string,
  traceIds: string[],
  projects?: readonly string[],
): Promise<void> {
  await sql`
    delete from trace_shares where tenant_id = ${tenantId} and trace_id = any(${traceIds}::uuid[])
      and ${projects ? sql`project_id = any(${projects as string[]}::uuid[])` : sql`true`}`;
}
