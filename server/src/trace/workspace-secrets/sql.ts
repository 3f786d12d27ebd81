import type { Sql, Transaction } from "../../base/db/connect.ts";

/** Lists the keys of a workspace's secrets. */
export const listSecretKeys = (sql: Sql | Transaction, tenantId: string, limit: number): Promise<{ key: string }[]> =>
  sql<{ key: string }[]>`
    select key from workspace_secrets where tenant_id = ${tenantId} order by key limit ${limit}`;

/** @returns the id of the secret with this key, which may be new */
export async function ensureSecret(tx: Transaction, tenantId: string, key: string, id: string): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    insert into workspace_secrets (id, tenant_id, key) values (${id}, ${tenantId}, ${key})
    on conflict (tenant_id, key) do update set updated_at = now() returning id`;
  return row!.id;
}

export async function deleteSecret(tx: Transaction, tenantId: string, key: string): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    delete from workspace_secrets where tenant_id = ${tenantId} and key = ${key} returning id`;
  return row?.id;
}

/** Returns the ids of secrets by key; unknown keys are missing. */
export const findSecrets = (sql: Sql, tenantId: string, keys: string[]): Promise<{ key: string; id: string }[]> =>
  sql<{ key: string; id: string }[]>`
    select key, id from workspace_secrets where tenant_id = ${tenantId} and key = any(${keys}::text[])`;

/** Serializes changes of a workspace's secrets, so that their number stays within the limit. */
export const lockSecrets = (tx: Transaction, tenantId: string): PromiseLike<unknown> =>
  tx`select pg_advisory_xact_lock(hashtextextended('workspace_secrets ' || ${tenantId}, 0))`;
