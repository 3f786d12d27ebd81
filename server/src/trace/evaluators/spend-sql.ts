import type { Sql } from "../../base/db/connect.ts";

export interface SpendFilter {
  evaluator: string | undefined;
  type: "llm" | "code" | undefined;
  feedbackKey: string | undefined;
  /** Projects and datasets that rules of the evaluator must be attached to, all of them. */
  resources: string[] | undefined;
}

export interface SpendRow {
  evaluator_id: string;
  evaluator_name: string;
  /** Days of the period and of the one before, from `evaluator_spending`. */
  days: { day: string; spent: number; judgements: number }[];
}

/** Returns what evaluators spent on the `days` days from `since` and on those before, by UTC day, most expensive first. */
export const selectSpending = (
  sql: Sql,
  tenantId: string,
  since: string,
  days: number,
  { evaluator, type, feedbackKey, resources }: SpendFilter,
): Promise<SpendRow[]> => sql<SpendRow[]>`
  select e.evaluator_id, e.name as evaluator_name, json_agg(s order by s.day) as days
  from evaluators e join lateral (
    select to_char(day, 'YYYY-MM-DD') as day, sum(spent_usd)::float8 as spent, sum(judgements)::float8 as judgements
    from evaluator_spending s
    where s.tenant_id = e.tenant_id and s.evaluator_id = e.evaluator_id
      and s.day >= ${since}::text::date - ${days}::int and s.day < ${since}::text::date + ${days}::int
    group by s.day) s on true
  where e.tenant_id = ${tenantId}
    and ${evaluator === undefined ? sql`true` : sql`e.evaluator_id = ${evaluator}`}
    and ${type === undefined ? sql`true` : sql`e.type = ${type}`}
    and ${feedbackKey === undefined ? sql`true` : sql`e.feedback_keys @> ${[feedbackKey]}::text[]`}
    and ${
      resources === undefined
        ? sql`true`
        : sql`not exists (select from unnest(${resources}::uuid[]) as wanted (id) where not exists (
            select from rules r where r.tenant_id = e.tenant_id and r.evaluator_id = e.evaluator_id
              and (r.project_id = wanted.id or r.dataset_id = wanted.id)))`
    }
  group by e.tenant_id, e.evaluator_id, e.name
  order by sum(s.spent) desc, e.evaluator_id limit 1000`;
