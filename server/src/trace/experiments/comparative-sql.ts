import type { Sql } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { isoTime } from "../datasets/sql.ts";

export interface NewComparison {
  id: string;
  reference_dataset_id: string;
  experiment_ids: string[];
  name: string | null;
  description: string | null;
  extra: unknown;
  created_at: string;
}

const BASE = {
  id: "c.comparative_experiment_id",
  tenant_id: "c.tenant_id",
  name: "c.name",
  description: "c.description",
  reference_dataset_id: "c.reference_dataset_id",
  extra: "c.extra",
  created_at: isoTime("c.created_at"),
  modified_at: isoTime("c.modified_at"),
};

const LISTED = {
  ...BASE,
  experiments_info: `(select coalesce(json_agg(json_build_object('id', p.project_id, 'name', p.name) order by i.place), '[]')
    from unnest(c.experiment_ids) with ordinality as i (id, place)
    join projects p on p.tenant_id = c.tenant_id and p.project_id = i.id)`,
  feedback_stats: `(select json_object_agg(s.key, json_build_object('n', s.n, 'avg', s.avg)) from (
    select f.key, count(*)::int as n, avg(f.score) as avg from feedback f
    where f.tenant_id = c.tenant_id and f.comparative_experiment_id = c.comparative_experiment_id group by f.key) s)`,
};

/** @returns the row as JSON; undefined when the id is already used in the workspace */
export async function insertComparison(
  sql: Sql,
  tenantId: string,
  comparison: NewComparison,
): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    insert into comparative_experiments as c (tenant_id, comparative_experiment_id, reference_dataset_id, name,
      description, experiment_ids, extra, created_at)
    values (${tenantId}, ${comparison.id}, ${comparison.reference_dataset_id}, ${comparison.name}, ${comparison.description},
      ${comparison.experiment_ids}::uuid[], nullif(${JSON.stringify(comparison.extra ?? null)}::text::jsonb, 'null'),
      ${comparison.created_at}::text::timestamptz)
    on conflict do nothing returning ${buildJsonObject(sql, BASE)}::text as item`;
  return row?.item;
}

/** Returns the datasets of the workspace's experiments. */
export async function findExperiments(
  sql: Sql,
  tenantId: string,
  ids: string[],
): Promise<{ id: string; dataset: string | null }[]> {
  return sql<{ id: string; dataset: string | null }[]>`
    select project_id as id, reference_dataset_id as dataset from projects
    where tenant_id = ${tenantId} and project_id = any(${ids}::uuid[])`;
}

export async function listComparisons(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  search: {
    id?: string[] | undefined;
    name?: string | undefined;
    name_contains?: string | undefined;
    sort_by: "name" | "created_at";
    sort_by_desc?: boolean | undefined;
    limit: number;
    offset: number;
  },
): Promise<string> {
  const { id, name, name_contains: part } = search;
  const direction = search.sort_by_desc === false ? "asc" : "desc";
  const order = sql.unsafe(`c.${search.sort_by} ${direction} nulls last, c.comparative_experiment_id`);
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(item), '[]')::text as items from (
      select ${buildJsonObject(sql, LISTED)} as item from comparative_experiments c
      where c.tenant_id = ${tenantId} and c.reference_dataset_id = ${datasetId}
        and ${id ? sql`c.comparative_experiment_id = any(${id}::uuid[])` : sql`true`}
        and ${name === undefined ? sql`true` : sql`c.name = ${name}`}
        and ${part ? sql`strpos(lower(c.name), lower(${part})) > 0` : sql`true`}
      order by ${order} limit ${search.limit} offset ${search.offset}) page`;
  return row!.items;
}

/** @returns false when there was none */
export async function deleteComparison(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const deleted = await sql`
    delete from comparative_experiments where tenant_id = ${tenantId} and comparative_experiment_id = ${id} returning 1`;
  return deleted.length > 0;
}
