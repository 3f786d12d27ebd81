import type { Sql } from "../../base/db/connect.ts";
import { isoTime } from "../datasets/sql.ts";
import { AVAILABILITY, type SettingsCreate, type SettingsPatch } from "./schema.ts";

/** New configurations are available in the playground and to evaluators. */
const BY_DEFAULT: ReadonlySet<string> = new Set(["available_in_playground", "available_in_evaluators"]);

const ITEM = `json_build_object('id', s.id, 'name', s.name, 'description', s.description, 'settings', s.settings,
  'options', s.options, 'settings_type', s.settings_type, 'created_at', ${isoTime("s.created_at")},
  'updated_at', ${isoTime("s.updated_at")}, 'created_by_ls_user_id', s.created_by,
  'updated_by_ls_user_id', s.updated_by, 'oauth_enabled', null,
  ${AVAILABILITY.map((name) => `'${name}', coalesce((s.availability->'${name}')::boolean, ${BY_DEFAULT.has(name)})`).join(", ")})`;

export async function listSettings(sql: Sql, tenantId: string, limit: number): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    with page as materialized (
      select * from playground_settings s where s.tenant_id = ${tenantId} order by s.created_at, s.id limit ${limit})
    select coalesce(json_agg(${sql.unsafe(ITEM)} order by s.created_at, s.id), '[]')::text as items from page s`;
  return row!.items;
}

export async function findSettings(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${sql.unsafe(ITEM)}::text as item from playground_settings s where s.tenant_id = ${tenantId} and s.id = ${id}`;
  return row?.item;
}

const json = (value: object | null | undefined): string | null => (value == null ? null : JSON.stringify(value));

/** @returns undefined when the workspace already has `max` */
export async function insertSettings(
  sql: Sql,
  tenantId: string,
  id: string,
  { name, description, settings, options, settings_type: type }: SettingsCreate,
  userId: string | null,
  max: number,
): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    insert into playground_settings as s (id, tenant_id, name, description, settings, options, settings_type,
      created_by, updated_by)
    select ${id}, ${tenantId}, ${name ?? null}, ${description ?? null}, ${json(settings)}::text::json,
      ${json(options)}::text::json, ${type}, ${userId}::uuid, ${userId}::uuid
    where (select count(*) from playground_settings where tenant_id = ${tenantId}) < ${max}
    returning ${sql.unsafe(ITEM)}::text as item`;
  return row?.item;
}

/** Null leaves a field unchanged. @returns undefined when there is none */
export async function updateSettings(
  sql: Sql,
  tenantId: string,
  id: string,
  patch: SettingsPatch,
  userId: string | null,
): Promise<string | undefined> {
  const availability = Object.fromEntries(
    AVAILABILITY.flatMap((name) => (patch[name] == null ? [] : [[name, patch[name]] as const])),
  );
  const [row] = await sql<{ item: string }[]>`
    update playground_settings s set name = coalesce(${patch.name ?? null}, s.name),
      description = coalesce(${patch.description ?? null}, s.description),
      settings = coalesce(${json(patch.settings)}::text::json, s.settings),
      options = coalesce(${json(patch.options)}::text::json, s.options),
      availability = s.availability || ${JSON.stringify(availability)}::text::jsonb,
      updated_by = ${userId}::uuid, updated_at = now()
    where s.tenant_id = ${tenantId} and s.id = ${id}
    returning ${sql.unsafe(ITEM)}::text as item`;
  return row?.item;
}

/** @returns false when there was none */
export async function deleteSettings(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from playground_settings where tenant_id = ${tenantId} and id = ${id} returning 1`;
  return rows.length > 0;
}
