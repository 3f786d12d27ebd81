import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface ListenerRow {
  id: string;
  tenant_id: string;
  version: string | null;
  compute_type: string;
  compute_id: string;
  compute_config: { k8s_namespaces?: string[] | null };
  created_at: Date;
  updated_at: Date;
  /** Last request of the listener itself; null before the first. */
  last_seen_at: Date | null;
  /** Key by which the listener is recognized; null: none. */
  key_id: string | null;
  has_credential: boolean;
}

const COLUMNS = `l.*, exists (select from api_keys k where k.id = l.key_id and k.revoked_at is null) as has_credential`;

/** Seconds without a request after which a listener counts as away. */
export const AWAY_SECONDS = 60;

export async function findListener(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
): Promise<ListenerRow | undefined> {
  const [row] = await sql<ListenerRow[]>`
    select ${sql.unsafe(COLUMNS)} from listeners l where l.tenant_id = ${tenantId} and l.id = ${id}`;
  return row;
}

/** Locks a listener until the transaction ends: `key share` keeps it, `update` also keeps deployments from naming it. */
export async function lockListener(
  tx: Transaction,
  tenantId: string,
  id: string,
  mode: "key share" | "update",
): Promise<ListenerRow | undefined> {
  const [row] = await tx<ListenerRow[]>`
    select ${tx.unsafe(COLUMNS)} from listeners l where l.tenant_id = ${tenantId} and l.id = ${id}
    for ${tx.unsafe(mode)} of l`;
  return row;
}

/** Returns whether a key is the credential of a listener in its workspace. */
export async function isCredential(
  sql: Sql,
  key: { tenantId: string; keyId: string; listenerId: string },
): Promise<boolean> {
  const rows = await sql`
    select 1 from listeners where tenant_id = ${key.tenantId} and id::text = ${key.listenerId} and key_id::text = ${key.keyId}`;
  return rows.length > 0;
}

/** Lists listeners, newest first. */
export const listListeners = (sql: Sql, tenantId: string, { limit, offset }: { limit: number; offset: number }) =>
  sql<ListenerRow[]>`
    select ${sql.unsafe(COLUMNS)} from listeners l where l.tenant_id = ${tenantId}
    order by l.created_at desc, l.id desc limit ${limit} offset ${offset}`;

/** @returns false when the compute_id is taken in the workspace */
export async function insertListener(
  tx: Transaction,
  listener: Pick<ListenerRow, "id" | "tenant_id" | "version" | "compute_type" | "compute_id" | "compute_config">,
): Promise<boolean> {
  const { count } = await tx`
    insert into listeners (id, tenant_id, version, compute_type, compute_id, compute_config)
    values (${listener.id}, ${listener.tenant_id}, ${listener.version}, ${listener.compute_type}, ${listener.compute_id},
      ${JSON.stringify(listener.compute_config)}::text::jsonb)
    on conflict (tenant_id, compute_id) do nothing`;
  return count === 1;
}

export const setCredential = (tx: Transaction, id: string, keyId: string | null) => tx`
  update listeners set key_id = ${keyId}, updated_at = now() where id = ${id}`;

/** Updates a listener; nulls leave fields unchanged. @returns undefined when it does not exist */
export async function updateListener(
  sql: Sql,
  tenantId: string,
  id: string,
  change: { version: string | null; compute_config: object | null },
): Promise<ListenerRow | undefined> {
  const [row] = await sql<ListenerRow[]>`
    update listeners l set version = coalesce(${change.version}, version), updated_at = now(),
      compute_config = coalesce(${change.compute_config && JSON.stringify(change.compute_config)}::text::jsonb, compute_config)
    where l.tenant_id = ${tenantId} and l.id = ${id} returning ${sql.unsafe(COLUMNS)}`;
  return row;
}

/** Records that the listener has asked for work or reported; at most once per second, because both are frequent. */
export const markSeen = (sql: Sql, id: string) => sql`
  update listeners set last_seen_at = now()
  where id = ${id} and (last_seen_at is null or last_seen_at < now() - interval '1 second')`;

/** Deletes a listener that is locked. @returns false when deployments are assigned to it */
export async function deleteUnused(tx: Transaction, id: string): Promise<boolean> {
  const { count } = await tx`
    delete from listeners where id = ${id}
      and not exists (select from deployments where source_config->>'listener_id' = ${id})`;
  return count === 1;
}
