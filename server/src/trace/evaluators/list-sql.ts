import type { Sql, Transaction } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { hasTags } from "../resource-tags/sql.ts";
import { isoTime } from "../datasets/sql.ts";
import type { EvaluatorSearch } from "./wire-schema.ts";

const AUTHOR = "(select coalesce(u.full_name, u.email) from users u where u.id = e.created_by)";

/** Columns of `evaluators e`, its version `v` and its spending `s` by wire name. */
const COLUMNS = {
  id: "e.evaluator_id",
  tenant_id: "e.tenant_id",
  name: "e.name",
  description: "e.description",
  type: "e.type",
  subject: "v.definition -> 'subject'",
  version: "v.version",
  feedback_keys: "to_json(e.feedback_keys)",
  library_id: "e.library_id",
  llm_evaluator: `case when e.type = 'llm' then json_build_object('evaluator_id', e.evaluator_id,
    'prompt_id', (select p.repo_id from prompts p where p.tenant_id = e.tenant_id
      and v.definition #>> '{prompt,owner}' = '-' and p.repo_handle = v.definition #>> '{prompt,repo}'),
    'prompt_repo_handle', case v.definition #>> '{prompt,owner}' when '-' then v.definition #>> '{prompt,repo}'
      else (v.definition #>> '{prompt,owner}') || '/' || (v.definition #>> '{prompt,repo}') end,
    'commit_hash_or_tag', v.definition #> '{prompt,commit}', 'variable_mapping', v.definition -> 'variable_mapping',
    'annotation_queue_id', e.annotation_queue_id,
    'corrections_dataset_id', v.definition #> '{few_shot,dataset_id}',
    'num_few_shot_examples', v.definition #> '{few_shot,count}',
    'use_corrections_dataset', coalesce(v.definition -> 'few_shot', 'null') <> 'null') end`,
  code_evaluator: `case when e.type = 'code' then json_build_object('evaluator_id', e.evaluator_id,
    'code', v.definition -> 'code', 'language', v.definition -> 'language') end`,
  definition: "v.definition",
  run_rules: `coalesce((select json_agg(json_build_object('id', r.rule_id, 'display_name', r.display_name,
      'dataset_id', r.dataset_id, 'dataset_name', d.name, 'session_id', r.project_id, 'session_name', p.name,
      'group_by', r.group_by, 'corrections_dataset_id', v.definition #> '{few_shot,dataset_id}',
      'num_few_shot_examples', v.definition #> '{few_shot,count}',
      'use_corrections_dataset', coalesce(v.definition -> 'few_shot', 'null') <> 'null') order by r.created_at)
    from rules r left join projects p on p.tenant_id = r.tenant_id and p.project_id = r.project_id
      left join datasets d on d.tenant_id = r.tenant_id and d.dataset_id = r.dataset_id
    where r.tenant_id = e.tenant_id
      and (r.evaluator_id = e.evaluator_id or r.actions -> 'evaluator_ids' ? e.evaluator_id::text)), '[]')`,
  spend_usd: "coalesce(s.spent, 0)::float8",
  judgements: "coalesce(s.judgements, 0)::float8",
  errors: "coalesce(s.errors, 0)::float8",
  created_by: AUTHOR,
  created_at: isoTime("e.created_at"),
  updated_at: isoTime("e.updated_at"),
};

const from = (sql: Sql | Transaction, since: string | undefined) => sql`
  evaluators e
  join evaluator_versions v on v.tenant_id = e.tenant_id and v.evaluator_id = e.evaluator_id and v.version = e.newest_version
  left join lateral (
    select sum(judgements) as judgements, sum(errors) as errors, sum(spent_usd) as spent from evaluator_spending s
    where s.tenant_id = e.tenant_id and s.evaluator_id = e.evaluator_id
      and ${since === undefined ? sql`true` : sql`s.day >= (${since}::text::timestamptz at time zone 'UTC')::date`}
  ) s on true`;

/** @returns an evaluator as JSON */
export async function findEvaluator(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${buildJsonObject(sql, COLUMNS)}::text as item from ${from(sql, undefined)}
    where e.tenant_id = ${tenantId} and e.evaluator_id = ${id}`;
  return row?.item;
}

const SORTABLE: Record<EvaluatorSearch["sort_by"], string> = {
  name: "lower(e.name)",
  type: "e.type",
  created_at: "e.created_at",
  updated_at: "e.updated_at",
  spend_usd: "coalesce(s.spent, 0)",
};

/** Lists evaluators with their total. @returns JSON */
export async function listEvaluators(sql: Sql, tenantId: string, search: EvaluatorSearch): Promise<string> {
  const { type, name_contains: part, feedback_key: key, resource_id: resources } = search;
  const text = part?.replaceAll("\0", "").toLowerCase();
  const isDescending = search.sort_by_desc ?? search.sort_by !== "name";
  const where = sql`e.tenant_id = ${tenantId}
    and ${hasTags(sql, tenantId, "e.evaluator_id", search.tag_value_id)}
    and ${type === undefined ? sql`true` : sql`e.type = ${type}`}
    and ${text === undefined ? sql`true` : sql`(strpos(lower(e.name), ${text}) > 0 or strpos(lower(coalesce(${sql.unsafe(AUTHOR)}, '')), ${text}) > 0)`}
    and ${key === undefined ? sql`true` : sql`e.feedback_keys @> ${[key]}::text[]`}
    and ${
      resources === undefined
        ? sql`true`
        : sql`exists (select from rules r where r.tenant_id = e.tenant_id and r.evaluator_id = e.evaluator_id
            and (r.project_id = any(${resources}::uuid[]) or r.dataset_id = any(${resources}::uuid[])))`
    }`;
  const order = sql.unsafe(`${SORTABLE[search.sort_by]} ${isDescending ? "desc" : "asc"}, e.evaluator_id`);
  const [row] = await sql<{ item: string }[]>`
    select json_build_object('total', (select count(*)::int from evaluators e where ${where}),
      'evaluators', coalesce((select json_agg(item) from (
        select ${buildJsonObject(sql, COLUMNS)} as item from ${from(sql, search.spend_from)}
        where ${where} order by ${order} limit ${search.limit} offset ${search.offset}) page), '[]'))::text as item`;
  return row!.item;
}

/** Lists the versions of an evaluator, newest first, with their spending. @returns a JSON array */
export async function listVersions(sql: Sql, tenantId: string, id: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(json_build_object('version', e.version, 'definition', e.definition,
        'created_at', ${sql.unsafe(isoTime("e.created_at"))}, 'created_by', ${sql.unsafe(AUTHOR)},
        'judgements', coalesce(s.judgements, 0), 'errors', coalesce(s.errors, 0),
        'spend_usd', coalesce(s.spent, 0)::float8) order by e.version desc), '[]')::text as items
    from (select * from evaluator_versions where tenant_id = ${tenantId} and evaluator_id = ${id}
          order by version desc limit 200) e
    left join lateral (
      select sum(judgements)::float8 as judgements, sum(errors)::float8 as errors, sum(spent_usd) as spent
      from evaluator_spending s
      where s.tenant_id = e.tenant_id and s.evaluator_id = e.evaluator_id and s.version = e.version) s on true`;
  return row!.items;
}

/** Renames an evaluator. Null keeps the name, undefined the description. @returns false for an unknown one */
export async function updateEvaluator(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  change: { name: string | null; description: string | null | undefined },
): Promise<boolean> {
  const { count } = await sql`
    update evaluators set name = coalesce(${change.name}, name), updated_at = now(),
      description = ${change.description === undefined ? sql`description` : change.description}
    where tenant_id = ${tenantId} and evaluator_id = ${id}`;
  return count === 1;
}

/** Adds a version. @param expected the newest version, which the change is based on. @returns false when there is another */
export async function insertVersion(
  tx: Transaction,
  row: {
    tenant_id: string;
    evaluator_id: string;
    expected: number;
    definition: unknown;
    keys: string[];
    created_by: string | null;
  },
): Promise<boolean> {
  const { count } = await tx`
    with changed as (
      update evaluators set newest_version = newest_version + 1, feedback_keys = ${row.keys}::text[], updated_at = now()
      where tenant_id = ${row.tenant_id} and evaluator_id = ${row.evaluator_id} and newest_version = ${row.expected}
      returning tenant_id, evaluator_id, newest_version)
    insert into evaluator_versions (tenant_id, evaluator_id, version, definition, created_by)
    select tenant_id, evaluator_id, newest_version, ${JSON.stringify(row.definition)}::text::jsonb, ${row.created_by}
    from changed`;
  return count === 1;
}

/** Whether a rule names an evaluator or embeds it. */
const using = (sql: Sql | Transaction, tenantId: string, id: string) => sql`
  tenant_id = ${tenantId} and (evaluator_id = ${id} or actions -> 'evaluator_ids' ? ${id}::text)`;

/** Returns the rules that use an evaluator. */
export const rulesOfEvaluator = async (sql: Sql | Transaction, tenantId: string, id: string): Promise<string[]> =>
  (
    await sql<{ name: string }[]>`
      select display_name as name from rules where ${using(sql, tenantId, id)} limit 10`
  ).map((row) => row.name);

export async function deleteRulesOf(tx: Transaction, tenantId: string, id: string): Promise<void> {
  await tx`delete from rules where ${using(tx, tenantId, id)}`;
}

/** Deletes an evaluator with its versions. Its feedback stays. @returns false for an unknown one */
export async function deleteEvaluator(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
  const { count } = await tx`delete from evaluators where tenant_id = ${tenantId} and evaluator_id = ${id}`;
  return count === 1;
}
