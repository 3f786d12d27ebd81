import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { ConfigSearch, ConfigUpdate } from "./schema.ts";
import type { FeedbackConfig } from "./schema.ts";

export const CONFIG_ITEM = `json_build_object('id', k.config_id, 'is_enforced', false, 'is_deleted', false,
  'is_first', true, 'feedback_key', k.feedback_key, 'feedback_config', k.feedback_config,
  'tenant_id', k.tenant_id, 'is_lower_score_better', k.is_lower_score_better,
  'modified_at', to_char(k.modified_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))`;

/**
 * Creates the configuration of a key unless it has one.
 *
 * @returns the key's configuration, and whether it equals the given one
 */
export async function ensureConfig(
  sql: Sql,
  tenantId: string,
  key: string,
  config: FeedbackConfig,
  isLowerScoreBetter: boolean | null = false,
): Promise<{ item: string; same: boolean }> {
  const json = JSON.stringify(config);
  for (;;) {
    const [known] = await sql<{ item: string; same: boolean }[]>`
      select ${sql.unsafe(CONFIG_ITEM)}::text as item, k.feedback_config = ${json}::text::jsonb as same
      from feedback_configs k where k.tenant_id = ${tenantId} and k.feedback_key = ${key}`;
    if (known) return known;
    // the loser of a race reads the winner's row
    await sql`
      insert into feedback_configs (tenant_id, feedback_key, feedback_config, is_lower_score_better)
      values (${tenantId}, ${key}, ${json}::text::jsonb, ${isLowerScoreBetter})
      on conflict (tenant_id, feedback_key) do nothing`;
  }
}

export async function listConfigs(sql: Sql, tenantId: string, search: ConfigSearch): Promise<string> {
  const { key, name_contains: part } = search;
  const order = sql.unsafe(search.sort_by_desc === false ? "asc" : "desc");
  const [row] = await sql<{ items: string }[]>`
    with page as materialized (
      select * from feedback_configs k
      where k.tenant_id = ${tenantId}
        and ${key ? sql`k.feedback_key = any(${key}::text[])` : sql`true`}
        and ${search.is_enforced === true ? sql`false` : sql`true`}
        and ${part ? sql`strpos(lower(k.feedback_key), lower(${part})) > 0` : sql`true`}
      order by k.modified_at ${order}, k.feedback_key
      limit ${search.limit} offset ${search.offset})
    select coalesce(json_agg(${sql.unsafe(CONFIG_ITEM)} order by k.modified_at ${order}, k.feedback_key), '[]')::text as items
    from page k`;
  return row!.items;
}

export async function updateConfig(sql: Sql, tenantId: string, patch: ConfigUpdate): Promise<string | undefined> {
  const config = patch.feedback_config;
  const lower = patch.is_lower_score_better;
  const [row] = await sql<{ item: string }[]>`
    update feedback_configs k set modified_at = now(),
      feedback_config = ${config ? sql`${JSON.stringify(config)}::text::jsonb` : sql`feedback_config`},
      is_lower_score_better = ${lower == null ? sql`is_lower_score_better` : sql`${lower}`}
    where k.tenant_id = ${tenantId} and k.feedback_key = ${patch.feedback_key}
      and ${patch.feedback_config_id == null ? sql`true` : sql`k.config_id = ${patch.feedback_config_id}`}
    returning ${sql.unsafe(CONFIG_ITEM)}::text as item`;
  return row?.item;
}

/** Deletes a configuration; the feedback stays. @returns false when there was none */
export async function deleteConfig(sql: Sql, tenantId: string, key: string): Promise<boolean> {
  const deleted = await sql`
    delete from feedback_configs where tenant_id = ${tenantId} and feedback_key = ${key} returning 1`;
  return deleted.length > 0;
}

/** Returns the configurations of keys; keys without one are left out. */
export async function findConfigs(
  sql: Sql | Transaction,
  tenantId: string,
  keys: string[],
): Promise<Map<string, { id: string; config: FeedbackConfig }>> {
  const rows = await sql<{ key: string; id: string; config: FeedbackConfig }[]>`
    select feedback_key as key, config_id as id, feedback_config as config from feedback_configs
    where tenant_id = ${tenantId} and feedback_key = any(${keys}::text[])`;
  return new Map(rows.map(({ key, id, config }) => [key, { id, config }]));
}
