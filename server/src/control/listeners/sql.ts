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
}

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
  listener: Omit<ListenerRow, "created_at" | "updated_at">,
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

export async function deleteListenerRow(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const { count } = await sql`delete from listeners where tenant_id = ${tenantId} and id = ${id}`;
  return count === 1;
}
