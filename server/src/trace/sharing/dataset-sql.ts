import { randomUUID } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";

/** Creates the share if missing. @returns the token; undefined when there is no such dataset */
export async function ensureShare(sql: Sql, tenantId: string, datasetId: string): Promise<string | undefined> {
  const [created] = await sql<{ share_token: string }[]>`
    insert into dataset_shares (tenant_id, dataset_id, share_token)
    select tenant_id, dataset_id, ${randomUUID()} from datasets
    where tenant_id = ${tenantId} and dataset_id = ${datasetId}
    on conflict (tenant_id, dataset_id) do update set share_token = dataset_shares.share_token
    returning share_token`;
  return created?.share_token;
}

export async function findShare(sql: Sql, tenantId: string, datasetId: string): Promise<string | undefined> {
  const [row] = await sql<{ share_token: string }[]>`
    select share_token from dataset_shares where tenant_id = ${tenantId} and dataset_id = ${datasetId}`;
  return row?.share_token;
}

export async function deleteShare(sql: Sql, tenantId: string, datasetId: string): Promise<void> {
  await sql`delete from dataset_shares where tenant_id = ${tenantId} and dataset_id = ${datasetId}`;
}
