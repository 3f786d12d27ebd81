import { utcText } from "../../base/db/utc-text.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { ListQuery } from "./schema.ts";
import { MASK } from "./schema.ts";

const action = (name: string, otherwise: string): string => `coalesce(r.actions -> '${name}', '${otherwise}'::jsonb)`;

/** Columns of `rules r` by wire name; `b` is the rule's newest back-fill. Secrets are masked. */
const WIRE = `json_build_object(
  'id', r.rule_id, 'tenant_id', r.tenant_id, 'is_enabled', r.is_enabled, 'disabled_reason', r.disabled_reason,
  'session_id', r.project_id, 'session_name', p.name, 'dataset_id', r.dataset_id, 'dataset_name', d.name,
  'display_name', r.display_name, 'sampling_rate', r.sampling_rate, 'filter', r.filter,
  'trace_filter', r.trace_filter, 'tree_filter', r.tree_filter,
  'add_to_annotation_queue_id', r.actions -> 'add_to_annotation_queue_id', 'add_to_annotation_queue_name', q.name,
  'add_to_dataset_id', r.actions -> 'add_to_dataset_id', 'add_to_dataset_name', t.name,
  'add_to_dataset_prefer_correction', ${action("add_to_dataset_prefer_correction", "false")},
  'corrections_dataset_id', j.few_shot -> 'dataset_id', 'use_corrections_dataset', j.few_shot is not null,
  'num_few_shot_examples', j.few_shot -> 'count',
  'evaluators', nullif(r.actions -> 'evaluators', 'null'), 'code_evaluators', nullif(r.actions -> 'code_evaluators', 'null'),
  'alerts', (select json_agg((a || jsonb_build_object('routing_key', '${MASK}'))) from jsonb_array_elements(
    nullif(r.actions -> 'alerts', 'null')) a),
  'webhooks', (select json_agg(json_build_object('url', w -> 'url', 'headers', (
      select json_object_agg(h, '${MASK}') from jsonb_array_elements_text(w -> 'headers') h)))
    from jsonb_array_elements(nullif(r.actions -> 'webhooks', 'null')) w),
  'extend_only', ${action("extend_only", "false")}, 'include_extended_stats', ${action("include_extended_stats", "false")},
  'created_at', ${utcText("r.created_at", "+00:00")}, 'updated_at', ${utcText("r.updated_at", "+00:00")},
  'backfill_from', ${utcText("b.backfill_from", "+00:00")}, 'backfill_id', b.backfill_id, 'backfill_status', b.status,
  'backfill_progress', case when b.status = 'completed' then 1 when b.total > 0 then
    least(1, round(b.done::numeric / b.total, 4)) end,
  'backfill_error', b.error, 'backfill_completed_at', ${utcText("b.completed_at", "+00:00")}, 'transient', ${action("transient", "false")},
  'evaluator_version', ${action("evaluator_version", "1")}, 'evaluator_id', r.evaluator_id,
  'alignment_annotation_queue_id', case when (r.actions ->> 'create_alignment_queue')::boolean then l.queue_id end,
  'group_by', r.group_by,
  'spend_limit', case when r.spend_limit_usd is not null then
    json_build_object('limit_usd', r.spend_limit_usd::text, 'window', ${action("spend_window", '"weekly"')}) end,
  'add_tags', ${action("add_tags", "[]")}, 'add_feedback', ${action("add_feedback", "[]")},
  'dataset_mapping', nullif(r.actions -> 'dataset_mapping', 'null'), 'idle_seconds', r.idle_seconds)`;

const NAMED = `
  left join projects p on p.tenant_id = r.tenant_id and p.project_id = r.project_id
  left join datasets d on d.tenant_id = r.tenant_id and d.dataset_id = r.dataset_id
  left join datasets t on t.tenant_id = r.tenant_id and t.dataset_id = (r.actions ->> 'add_to_dataset_id')::uuid
  left join annotation_queues q on q.tenant_id = r.tenant_id
    and q.queue_id = (r.actions ->> 'add_to_annotation_queue_id')::uuid
  left join lateral (
    select nullif(v.definition -> 'few_shot', 'null') as few_shot, e.annotation_queue_id
    from unnest(array_prepend(r.evaluator_id::text, array(
        select jsonb_array_elements_text(nullif(r.actions -> 'evaluator_ids', 'null'))))) with ordinality as u (id, place)
      join evaluators e on e.tenant_id = r.tenant_id and e.evaluator_id::text = u.id
      join evaluator_versions v on v.tenant_id = e.tenant_id and v.evaluator_id = e.evaluator_id
        and v.version = e.newest_version
    order by e.type = 'llm' desc, u.place limit 1) j on true
  left join annotation_queues l on l.tenant_id = r.tenant_id and l.queue_id = j.annotation_queue_id
  left join lateral (
    select * from rule_backfills f where f.tenant_id = r.tenant_id and f.rule_id = r.rule_id
    order by f.created_at desc limit 1) b on true`;

/** Lists the rules of a workspace, newest first. @returns a JSON array */
export async function listRules(sql: Sql, tenantId: string, query: Partial<ListQuery>): Promise<string> {
  const { dataset_id: dataset, session_id: project, type, name_contains: part, id, evaluator_id: evaluator } = query;
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(item), '[]')::text as items from (
      select ${sql.unsafe(WIRE)} as item from rules r ${sql.unsafe(NAMED)}
      where r.tenant_id = ${tenantId}
        and ${dataset === undefined ? sql`true` : sql`r.dataset_id = ${dataset}`}
        and ${project === undefined ? sql`true` : sql`r.project_id = ${project}`}
        and ${type === undefined ? sql`true` : type === "session" ? sql`r.project_id is not null` : sql`r.dataset_id is not null`}
        and ${part ? sql`strpos(lower(r.display_name), lower(${part})) > 0` : sql`true`}
        and ${id ? sql`r.rule_id = any(${id}::text[]::uuid[])` : sql`true`}
        and ${evaluator === undefined ? sql`true` : sql`(r.evaluator_id = ${evaluator} or r.actions -> 'evaluator_ids' ? ${evaluator}::text)`}
      order by r.created_at desc, r.rule_id desc limit 1000) page`;
  return row!.items;
}

/** Finds a rule as the API returns it. @returns a JSON object */
export async function findRuleJson(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const items = await listRules(sql, tenantId, { id: [id] });
  return items === "[]" ? undefined : items.slice(1, -1);
}
