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
}

/** Seconds without a request after which a listener counts as away. */
export const AWAY_SECONDS = 60;

export async function findListener(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
): Promise<ListenerRow | undefined> {
  const [row] = await sql<ListenerRow[]>`select * from listeners where tenant_id = ${tenantId} and id = ${id}`;
  return row;
}

/** Lists listeners, newest first. */
export const listListeners = (sql: Sql, tenantId: string, { limit, offset }: { limit: number; offset: number }) =>
  sql<ListenerRow[]>`
    select * from listeners where tenant_id = ${tenantId}
    order by created_at desc, id desc limit ${limit} offset ${offset}`;

/** @returns undefined when the compute_id is taken in the workspace */
export async function insertListener(
  sql: Sql,
  listener: Omit<ListenerRow, "created_at" | "updated_at" | "last_seen_at">,
): Promise<ListenerRow | undefined> {
  const [row] = await sql<ListenerRow[]>`
    insert into listeners (id, tenant_id, version, compute_type, compute_id, compute_config)
    values (${listener.id}, ${listener.tenant_id}, ${listener.version}, ${listener.compute_type}, ${listener.compute_id},
      ${JSON.stringify(listener.compute_config)}::text::jsonb)
    on conflict (tenant_id, compute_id) do nothing returning *`;
  return row;
}

/** Updates a listener; nulls leave fields unchanged. @returns undefined when it does not exist */
export async function updateListener(
  sql: Sql,
  tenantId: string,
  id: string,
  change: { version: string | null; compute_config: object | null },
): Promise<ListenerRow | undefined> {
  const [row] = await sql<ListenerRow[]>`
    update listeners set version = coalesce(${change.version}, version), updated_at = now(),
      compute_config = coalesce(${change.compute_config && JSON.stringify(change.compute_config)}::text::jsonb, compute_config)
    where tenant_id = ${tenantId} and id = ${id} returning *`;
  return row;
}

/** Records that the listener has asked for work or reported; at most once per second, because both are frequent. */
export const markSeen = (sql: Sql, id: string) => sql`
  update listeners set last_seen_at = now()
  where id = ${id} and (last_seen_at is null or last_seen_at < now() - interval '1 second')`;

/** Whether deployments are assigned to a listener. */
export async function isListenerUsed(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select 1 from deployments where source_config->>'listener_id' = ${id} limit 1`;
  return rows.length > 0;
}

export async function deleteListenerRow(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const { count } = await sql`delete from listeners where tenant_id = ${tenantId} and id = ${id}`;
  return count === 1;
}
