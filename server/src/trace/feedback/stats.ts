import type { Sql } from "../../base/db/connect.ts";

/** Statistics of one key's feedback on a run or a project. */
export interface FeedbackStats {
  n: number;
  avg: number | null;
  stdev: number | null;
  min: number | null;
  max: number | null;
  /** Counts of values, others than texts as JSON; the 50 most frequent. */
  values: Record<string, number>;
  /** Latest five, truncated to 500 characters. */
  comments: string[];
  sources: string[];
  /** Number of evaluations that failed. */
  errors: number;
}

export type FeedbackStatsByKey = Record<string, FeedbackStats>;

/** `runs`: per run. `projects`: on all runs of each project. `project_level`: on the projects themselves. */
export type FeedbackStatsUnit = "runs" | "projects" | "project_level";

/** SQL of a value of feedback as text: others than texts as JSON. */
export const feedbackLabel = (value: string): string =>
  `case jsonb_typeof(${value}) when 'string' then ${value} #>> '{}' when 'null' then null else ${value}::text end`;

const UNITS = {
  runs: { id: "run_id", where: "true" },
  projects: { id: "session_id", where: "run_id is not null" },
  project_level: { id: "session_id", where: "run_id is null" },
} as const;

/** Sums of a project's scores of one key. */
export interface ScoreSum {
  session_id: string;
  key: string;
  /** Number of scores; other feedback, such as failed evaluations, has none. */
  scored: number;
  total: number;
}

/** Returns the sums of the scores that runs of these projects have, of keys with at least one. */
export const scoreSums = async (sql: Sql, tenantId: string, projects: string[]): Promise<ScoreSum[]> => sql<ScoreSum[]>`
  select session_id, key, count(score)::int as scored, sum(score) as total from feedback
  where tenant_id = ${tenantId} and session_id = any(${projects}::uuid[]) and run_id is not null and score is not null
  group by session_id, key`;

/**
 * Returns statistics by run or project, omitting those without feedback. Served by feedback_by_run or
 * feedback_by_session: 100,000 rows of one project take about a quarter of a second.
 */
export async function feedbackStats(
  sql: Sql,
  tenantId: string,
  unit: FeedbackStatsUnit,
  ids: string[],
): Promise<Map<string, FeedbackStatsByKey>> {
  if (ids.length === 0) return new Map();
  const id = sql.unsafe(UNITS[unit].id);
  const rows = await sql<{ id: string; stats: FeedbackStatsByKey }[]>`
    with found as materialized (
      select ${id} as id, key, score, comment, source_type, created_at, extra ->> 'error' = 'true' as failed,
        ${sql.unsafe(feedbackLabel("value"))} as label
      from feedback
      where tenant_id = ${tenantId} and ${id} = any(${ids}::uuid[]) and ${sql.unsafe(UNITS[unit].where)}
    ), labels as (
      select id, key, jsonb_object_agg(label, n) as values
      from (select id, key, label, count(*)::int as n, row_number() over (partition by id, key order by count(*) desc, label)
            from found where label is not null group by id, key, label) counted
      where row_number <= 50 group by id, key
    ), stats as (
      select id, key, count(*)::int as n, avg(score) as avg, stddev_pop(score) as stdev, min(score) as min,
        max(score) as max, count(*) filter (where failed)::int as errors,
        (array_agg(left(comment, 500) order by created_at desc) filter (where comment is not null))[1:5] as comments,
        array_agg(distinct source_type) as sources
      from found group by id, key
    )
    select s.id, json_object_agg(s.key, json_build_object('n', n, 'avg', avg, 'stdev', stdev, 'min', min, 'max', max,
      'errors', errors, 'values', coalesce(values, '{}'), 'comments', coalesce(to_json(comments), '[]'),
      'sources', sources) order by s.key) as stats
    from stats s left join labels l on l.id = s.id and l.key = s.key
    group by s.id`;
  return new Map(rows.map((row) => [row.id, row.stats]));
}
