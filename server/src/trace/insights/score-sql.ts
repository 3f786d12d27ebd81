import type { Sql } from "../../base/db/connect.ts";

export interface ScoreRule {
  key: string;
  min: number | null;
  max: number | null;
  lower: boolean | null;
}

/** Feedback keys considered, at most. */
const MAX_KEYS = 500;

/** Lists the scales of the workspace's feedback keys. */
export const listScoreRules = (sql: Sql, tenantId: string): Promise<ScoreRule[]> => sql<ScoreRule[]>`
  select feedback_key as key, is_lower_score_better as lower,
    case when jsonb_typeof(feedback_config->'min') = 'number' then (feedback_config->>'min')::float8 end as min,
    case when jsonb_typeof(feedback_config->'max') = 'number' then (feedback_config->>'max')::float8 end as max
  from feedback_configs where tenant_id = ${tenantId} order by feedback_key limit ${MAX_KEYS}`;

/** Returns the latest comment on each of these traces. */
export async function findComments(
  sql: Sql,
  tenantId: string,
  traces: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ trace_id: string; comment: string }[]>`
    select distinct on (trace_id) trace_id, left(comment, 1000) as comment from feedback
    where tenant_id = ${tenantId} and trace_id = any(${traces as string[]}::uuid[]) and comment <> ''
    order by trace_id, created_at desc`;
  return new Map(rows.map((row) => [row.trace_id, row.comment]));
}
