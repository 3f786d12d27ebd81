import { utcText } from "../../base/db/utc-text.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Outcomes } from "./match-sql.ts";

export interface LogRow {
  match_id: string;
  rule_id: string;
  run_id: string;
  run_name: string | null;
  run_type: string | null;
  run_session_id: string;
  trace_id: string;
  start_time: string;
  end_time: string;
  matched_at: string;
  application_time: string | null;
  thread_id: string | null;
  is_backfill: boolean;
  status: "pending" | "done" | "failed" | "skipped";
  reason: string | null;
  attempts: number;
  cost_usd: string | null;
  outcomes: Outcomes;
}

const COLUMNS = `m.match_id, m.rule_id, m.run_id, m.run_name, m.run_type, m.project_id as run_session_id, m.trace_id,
  ${utcText("m.start_time", "+00:00")} as start_time, ${utcText("coalesce(m.end_time, m.start_time)", "+00:00")} as end_time,
  ${utcText("m.matched_at", "+00:00")} as matched_at, ${utcText("m.ended_at", "+00:00")} as application_time, m.thread_id, m.is_backfill, m.status,
  m.reason, m.attempts, trim_scale(m.cost_usd)::text as cost_usd, m.outcomes`;

export interface LogFilter {
  backfill?: boolean | undefined;
  /** Bounds of the time of the match. ISO text. */
  start_time?: string | undefined;
  end_time?: string | undefined;
  session_id?: string | undefined;
  status?: readonly LogRow["status"][] | undefined;
  run_id?: string | undefined;
}

export interface LogPosition {
  matched_at: string;
  match_id: string;
}

/** Lists decisions of a rule, the newest first. Served by rule_matches_by_time. */
export const listLog = (
  sql: Sql,
  tenantId: string,
  ruleId: string,
  { backfill, start_time: from, end_time: to, session_id: project, status, run_id: run }: LogFilter,
  page: { limit: number; offset?: number; after?: LogPosition | undefined },
): Promise<LogRow[]> => sql<LogRow[]>`
  select ${sql.unsafe(COLUMNS)} from rule_matches m
  where m.tenant_id = ${tenantId} and m.rule_id = ${ruleId}
    and ${backfill === undefined ? sql`true` : sql`m.is_backfill = ${backfill}`}
    and ${from === undefined ? sql`true` : sql`m.matched_at >= ${from}::text::timestamptz`}
    and ${to === undefined ? sql`true` : sql`m.matched_at <= ${to}::text::timestamptz`}
    and ${project === undefined ? sql`true` : sql`m.project_id = ${project}`}
    and ${run === undefined ? sql`true` : sql`m.run_id = ${run}`}
    and ${status === undefined ? sql`true` : sql`m.status = any(${status as string[]}::text[])`}
    and ${
      page.after === undefined
        ? sql`true`
        : sql`(m.matched_at, m.match_id) < (${page.after.matched_at}::text::timestamptz, ${page.after.match_id}::uuid)`
    }
  order by ${sql.unsafe("m.matched_at desc, m.match_id desc")} limit ${page.limit} offset ${page.offset ?? 0}`;

/** Returns the match on which the rule acted last. Served by rule_matches_by_time. */
export async function findLastApplied(
  sql: Sql,
  tenantId: string,
  ruleId: string,
  isBackfill: boolean,
): Promise<LogRow | undefined> {
  const [row] = await sql<LogRow[]>`
    select ${sql.unsafe(COLUMNS)} from rule_matches m
    where m.tenant_id = ${tenantId} and m.rule_id = ${ruleId} and m.status in ('done', 'failed')
      and m.is_backfill = ${isBackfill}
    order by ${sql.unsafe("m.matched_at desc, m.match_id desc")} limit 1`;
  return row;
}

export interface RuleStatistics {
  rule_id: string;
  /** Decisions since, without those that were sampled out. */
  matched: number;
  pending: number;
  done: number;
  failed: number;
  skipped: number;
  cost_usd: string;
  last_applied_at: string | null;
  /** In the current window of the spend limit. */
  spent_usd: string | null;
}

/** Counts the decisions of rules since a time; at most the newest 10,000 of each. Served by rule_matches_by_time. */
export const countMatches = (
  sql: Sql,
  tenantId: string,
  ruleIds: readonly string[] | undefined,
  hours: number,
): Promise<RuleStatistics[]> => sql<RuleStatistics[]>`
  select r.rule_id, s.matched, s.pending, s.done, s.failed, s.skipped, s.cost_usd,
    coalesce(s.last_applied_at, (
      select ${sql.unsafe(utcText("m.ended_at", "+00:00"))} from rule_matches m
      where m.tenant_id = r.tenant_id and m.rule_id = r.rule_id and m.status in ('done', 'failed')
      order by m.matched_at desc, m.match_id desc limit 1)) as last_applied_at,
    case when r.spend_limit_usd is not null then coalesce((
      select trim_scale(p.spent_usd)::text from rule_spending p
      where p.tenant_id = r.tenant_id and p.rule_id = r.rule_id
        and p.window_start = date_trunc(
          case r.actions ->> 'spend_window' when 'daily' then 'day' when 'monthly' then 'month' else 'week' end,
          now() at time zone 'UTC')::date), '0') end as spent_usd
  from rules r cross join lateral (
    select count(*)::int as matched, count(*) filter (where m.status = 'pending')::int as pending,
      count(*) filter (where m.status = 'done')::int as done,
      count(*) filter (where m.status = 'failed')::int as failed,
      count(*) filter (where m.status = 'skipped')::int as skipped,
      trim_scale(coalesce(sum(m.cost_usd), 0))::text as cost_usd,
      ${sql.unsafe(utcText("max(m.ended_at) filter (where m.status in ('done', 'failed'))", "+00:00"))} as last_applied_at
    from (
      select m.status, m.cost_usd, m.ended_at from rule_matches m
      where m.tenant_id = r.tenant_id and m.rule_id = r.rule_id
        and m.matched_at > now() - make_interval(hours => ${hours})
      order by m.matched_at desc, m.match_id desc limit 10000) m) s
  where r.tenant_id = ${tenantId}
    and ${ruleIds === undefined ? sql`true` : sql`r.rule_id = any(${ruleIds as string[]}::uuid[])`}
  order by r.rule_id limit 1000`;

/** Returns the mean of what the evaluators of these matches cost lately, as decimal text; null when none was paid. */
export async function findMeanCost(
  sql: Sql,
  tenantId: string,
  evaluatorIds: readonly string[],
): Promise<{ mean: string; count: number } | null> {
  const [row] = await sql<{ mean: string | null; count: number }[]>`
    select trim_scale(round(sum(spent_usd) / nullif(sum(judgements), 0) * count(distinct evaluator_id), 12))::text as mean,
      coalesce(sum(judgements), 0)::int as count
    from evaluator_spending
    where tenant_id = ${tenantId} and evaluator_id = any(${evaluatorIds as string[]}::uuid[])
      and day > (now() at time zone 'UTC')::date - 30`;
  return row && row.mean !== null ? { mean: row.mean, count: row.count } : null;
}
