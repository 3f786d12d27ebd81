import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface Share {
  share_token: string;
  tenant_id: string;
  project_id: string;
  trace_id: string;
}

/** A trace's runs in one project: what a share shows. */
type Part = Pick<Share, "project_id" | "trace_id">;

export class ShareTokens {
  readonly #tokens: Map<string, string>;

  constructor(shares: (Part & Pick<Share, "share_token">)[]) {
    this.#tokens = new Map(shares.map((share) => [nameOf(share), share.share_token]));
  }

  get(part: Part): string | undefined {
    return this.#tokens.get(nameOf(part));
  }
}

const nameOf = ({ project_id, trace_id }: Part): string => `${project_id}/${trace_id}`;

/** Returns the share tokens of traces, in all projects. */
export async function findShares(sql: Sql, tenantId: string, traceIds: string[]): Promise<ShareTokens> {
  if (traceIds.length === 0) return new ShareTokens([]);
  return new ShareTokens(
    await sql<Share[]>`
      select project_id, trace_id, share_token from trace_shares
      where tenant_id = ${tenantId} and trace_id = any(${traceIds}::uuid[])`,
  );
}

/** Finds the share of a token, of any tenant: the token is the credential. */
export async function findShare(sql: Sql, token: string): Promise<Share | undefined> {
  const [row] = await sql<Share[]>`
    select share_token, tenant_id, project_id, trace_id from trace_shares where share_token = ${token}`;
  return row;
}

/** Inserts a share. A part already shared keeps its token. @returns undefined when another part has the token */
export async function insertShare(sql: Sql, share: Share): Promise<string | undefined> {
  const [created] = await sql<{ share_token: string }[]>`
    insert into trace_shares (share_token, tenant_id, project_id, trace_id)
    values (${share.share_token}, ${share.tenant_id}, ${share.project_id}, ${share.trace_id})
    on conflict do nothing
    returning share_token`;
  if (created) return created.share_token;
  return (await findShares(sql, share.tenant_id, [share.trace_id])).get(share);
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
