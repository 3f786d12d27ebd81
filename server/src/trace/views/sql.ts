import type { Sql, Transaction } from "../../base/db/connect.ts";
import { utcText } from "../../base/db/utc-text.ts";
import type { ViewCreate, ViewPatch } from "./schema.ts";

/** Columns of `saved_views v` that a caller sets, with their casts from text. */
const SETTABLE = {
  display_name: "text",
  description: "text",
  type: "text",
  filter_string: "text",
  trace_filter_string: "text",
  tree_filter_string: "text",
  start_time: "timestamptz",
  end_time: "timestamptz",
  duration: "text",
} as const;

/** The caller: sees shared views and those of this person. */
export interface Viewer {
  tenantId: string;
  personId: string;
}

const item = (sql: Sql | Transaction, { personId }: Viewer) => sql`json_build_object('id', v.view_id,
  'session_id', v.session_id, 'display_name', v.display_name, 'description', v.description, 'type', v.type,
  'filter_string', v.filter_string, 'trace_filter_string', v.trace_filter_string,
  'tree_filter_string', v.tree_filter_string, 'start_time', ${sql.unsafe(utcText("v.start_time"))},
  'end_time', ${sql.unsafe(utcText("v.end_time"))}, 'duration', v.duration, 'list', v.list,
  'is_shared', v.is_shared, 'is_default', d.view_id is not null, 'is_mine', v.owner_id = ${personId},
  'owner_name', (select coalesce(u.full_name, u.email) from users u where u.id::text = v.owner_id),
  'created_at', ${sql.unsafe(utcText("v.created_at"))}, 'updated_at', ${sql.unsafe(utcText("v.updated_at"))})`;

/** Views of the project that the caller sees, as `v`; `d` is set for the caller's default. */
const source = (sql: Sql | Transaction, { tenantId, personId }: Viewer, projectId: string) => sql`
  from saved_views v left join default_views d on d.tenant_id = v.tenant_id and d.view_id = v.view_id
    and d.person_id = ${personId} and d.session_id = ${projectId}
  where v.tenant_id = ${tenantId} and (v.session_id = ${projectId} or v.session_id is null)
    and (v.is_shared or v.owner_id = ${personId})`;

/** Lists the views of a project and those of all projects, by name. */
export async function listViews(
  sql: Sql,
  viewer: Viewer,
  projectId: string,
  type: string | undefined,
): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(${item(sql, viewer)} order by lower(v.display_name), v.view_id), '[]')::text as items
    ${source(sql, viewer, projectId)} and (${type ?? null}::text is null or v.type = ${type ?? null})`;
  return row!.items;
}

export async function findView(
  sql: Sql | Transaction,
  viewer: Viewer,
  projectId: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${item(sql, viewer)}::text as item ${source(sql, viewer, projectId)} and v.view_id = ${id}`;
  return row?.item;
}

/** Locks a view that the caller sees, against concurrent changes. */
export async function lockView(
  tx: Transaction,
  viewer: Viewer,
  projectId: string,
  id: string,
): Promise<{ is_mine: boolean; is_shared: boolean; updated_at: string } | undefined> {
  const [row] = await tx<{ is_mine: boolean; is_shared: boolean; updated_at: string }[]>`
    select v.owner_id = ${viewer.personId} as is_mine, v.is_shared, ${tx.unsafe(utcText("v.updated_at"))} as updated_at
    ${source(tx, viewer, projectId)} and v.view_id = ${id} for update of v`;
  return row;
}

/** @returns false when the workspace has a view with this id */
export async function insertView(
  sql: Sql | Transaction,
  { tenantId, personId }: Viewer,
  projectId: string,
  id: string,
  body: ViewCreate,
): Promise<boolean> {
  const names = Object.keys(SETTABLE) as (keyof typeof SETTABLE)[];
  const values = names.map((name) => sql`${body[name] ?? null}::text::${sql.unsafe(SETTABLE[name])}`);
  const rows = await sql`
    insert into saved_views (tenant_id, view_id, session_id, owner_id, is_shared, list, ${sql.unsafe(names.join(", "))})
    values (${tenantId}, ${id}, ${body.all_projects ? null : projectId}, ${personId}, ${body.is_shared},
      ${JSON.stringify(body.list ?? {})}::text::jsonb,
      ${values.flatMap((value, place) => (place === 0 ? value : sql`, ${value}`))})
    on conflict do nothing returning 1`;
  return rows.length > 0;
}

/** Counts the views of a project, and those of all projects. Its lock makes writers of the workspace take turns. */
export async function countViews(tx: Transaction, tenantId: string, projectId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`saved views ${tenantId}`}, 0))`;
  const [row] = await tx<{ n: number }[]>`
    select count(*)::int as n from saved_views
    where tenant_id = ${tenantId} and (session_id = ${projectId} or session_id is null)`;
  return row!.n;
}

/** Sets the given fields; null clears one. */
export async function updateView(tx: Transaction, tenantId: string, id: string, patch: ViewPatch): Promise<void> {
  const names = (Object.keys(SETTABLE) as (keyof typeof SETTABLE)[]).filter((name) => patch[name] !== undefined);
  const changes = names.map((name) => {
    const value = tx`${patch[name] ?? null}::text::${tx.unsafe(SETTABLE[name])}`;
    // columns that are never null stay as they are
    return name === "display_name" || name === "type"
      ? tx`, ${tx.unsafe(name)} = coalesce(${value}, ${tx.unsafe(name)})`
      : tx`, ${tx.unsafe(name)} = ${value}`;
  });
  await tx`
    update saved_views set updated_at = clock_timestamp() ${changes.length > 0 ? changes : tx``}
      ${patch.list === undefined ? tx`` : tx`, list = ${JSON.stringify(patch.list ?? {})}::text::jsonb`}
      ${patch.is_shared == null ? tx`` : tx`, is_shared = ${patch.is_shared}`}
    where tenant_id = ${tenantId} and view_id = ${id}`;
}

export async function deleteView(tx: Transaction, tenantId: string, id: string): Promise<void> {
  await tx`delete from saved_views where tenant_id = ${tenantId} and view_id = ${id}`;
}

/** Opens the project with this view for the person, or no longer. */
export async function setDefaultView(
  tx: Transaction,
  { tenantId, personId }: Viewer,
  projectId: string,
  id: string,
  isDefault: boolean,
): Promise<void> {
  if (isDefault) {
    await tx`
      insert into default_views (tenant_id, person_id, session_id, view_id)
      values (${tenantId}, ${personId}, ${projectId}, ${id})
      on conflict (tenant_id, person_id, session_id) do update set view_id = excluded.view_id`;
    return;
  }
  await tx`
    delete from default_views where tenant_id = ${tenantId} and person_id = ${personId} and session_id = ${projectId}
      and view_id = ${id}`;
}

export async function deleteViewsOfWorkspace(tx: Transaction, tenantId: string): Promise<void> {
  await tx`delete from saved_views where tenant_id = ${tenantId}`;
}
