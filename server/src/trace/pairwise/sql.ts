import type { Sql } from "../../base/db/connect.ts";

export interface ComparisonRow {
  id: string;
  name: string | null;
  dataset_id: string;
  experiment_ids: string[];
  extra: Record<string, unknown> | null;
}

export async function findComparison(sql: Sql, tenantId: string, id: string): Promise<ComparisonRow | undefined> {
  const [row] = await sql<ComparisonRow[]>`
    select comparative_experiment_id as id, name, reference_dataset_id as dataset_id, experiment_ids, extra
    from comparative_experiments where tenant_id = ${tenantId} and comparative_experiment_id = ${id}`;
  return row;
}

/** A score of one run in a comparison. */
export interface PreferenceRow {
  run_id: string;
  key: string;
  score: number;
  comment: string | null;
  group_id: string | null;
  kind: "person" | "judge" | "api";
  /** Id of the person, or name of the evaluator. */
  reviewer: string;
  name: string | null;
}

/** Reads the scores of a comparison, or only those of some runs. Served by feedback_by_comparison. */
export async function readPreferences(sql: Sql, tenantId: string, comparisonId: string): Promise<PreferenceRow[]> {
  return sql<PreferenceRow[]>`
    select f.run_id, f.key, f.score, f.comment, f.feedback_group_id as group_id,
      case f.source_type when 'app' then 'person' when 'model' then 'judge' when 'auto_eval' then 'judge' else 'api' end as kind,
      case when f.source_type = 'app' then coalesce(f.user_id::text, 'local')
        when f.source_type = 'api' then 'api'
        else coalesce(f.source_metadata ->> 'evaluator_id', f.source_metadata ->> 'evaluator_name', 'model') end as reviewer,
      coalesce(f.source_metadata ->> 'evaluator_name',
        (select coalesce(u.full_name, u.email) from users u where u.id = f.user_id)) as name
    from feedback f
    where f.tenant_id = ${tenantId} and f.comparative_experiment_id = ${comparisonId}
      and f.run_id is not null and f.score is not null
    order by f.created_at, f.feedback_id`;
}

/** Deletes feedback of a comparison. @returns the number of deleted rows */
export async function deletePreferences(
  sql: Sql,
  tenantId: string,
  comparisonId: string,
  ids: string[],
): Promise<number> {
  const rows = await sql`
    delete from feedback where tenant_id = ${tenantId} and comparative_experiment_id = ${comparisonId}
      and feedback_id = any(${ids}::uuid[]) returning 1`;
  return rows.length;
}
