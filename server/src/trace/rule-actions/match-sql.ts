/**
 * The queue of matches. Processes claim the pending matches of one rule under a lease by the database's clock; every
 * write names the lease, so that a process that lost it writes nothing more. A claim moves `available_at` to the end of
 * the lease: another process takes over what a killed one had claimed.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { uuid7 } from "../../base/ids.ts";

export interface Outcome {
  outcome: "success" | "skipped" | "error";
  payload: Record<string, unknown> | null;
}

/** Outcomes by the action's name in the API. */
export type Outcomes = Record<string, Outcome>;

export interface ClaimedMatch {
  match_id: string;
  run_id: string;
  project_id: string;
  trace_id: string;
  /** As in ClickHouse, in UTC. */
  start_time: string;
  thread_id: string | null;
  is_backfill: boolean;
  attempts: number;
  outcomes: Outcomes;
}

/** Matches of one rule under one lease. */
export interface MatchBatch {
  tenant_id: string;
  rule_id: string;
  lease_id: string;
  matches: ClaimedMatch[];
}

export interface DueRule {
  tenant_id: string;
  rule_id: string;
}

/**
 * Lists rules with due matches. The recursion steps from one rule to the next in rule_matches_due, to the first due row
 * of each, so that a million matches of one rule cost no more than one.
 */
export const selectDueRules = (sql: Sql, limit: number): Promise<DueRule[]> => sql<DueRule[]>`
  with recursive waiting as (
    (select m.tenant_id, m.rule_id, m.available_at from rule_matches m
     where m.status = 'pending' order by m.tenant_id, m.rule_id, m.available_at limit 1)
    union all
    select n.tenant_id, n.rule_id, n.available_at
    from waiting w cross join lateral (
      select m.tenant_id, m.rule_id, m.available_at from rule_matches m
      where m.status = 'pending' and (m.tenant_id, m.rule_id) > (w.tenant_id, w.rule_id)
      order by m.tenant_id, m.rule_id, m.available_at limit 1) n
  )
  select tenant_id, rule_id from waiting where available_at <= clock_timestamp() order by available_at limit ${limit}`;

/** Claims due matches of a rule, the longest due first. Served by rule_matches_due. */
export async function claimMatches(
  sql: Sql,
  { tenant_id, rule_id }: DueRule,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<MatchBatch | undefined> {
  const lease_id = uuid7();
  const matches = await sql<ClaimedMatch[]>`
    with picked as (
      select match_id from rule_matches
      where status = 'pending' and tenant_id = ${tenant_id} and rule_id = ${rule_id}
        and available_at <= clock_timestamp()
      order by available_at limit ${limit} for update skip locked)
    update rule_matches m set lease_id = ${lease_id}, attempts = m.attempts + 1,
      leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}),
      available_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    from picked p where m.match_id = p.match_id
    returning m.match_id, m.run_id, m.project_id, m.trace_id, m.thread_id, m.is_backfill, m.attempts, m.outcomes,
      to_char(m.start_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as start_time`;
  return matches.length === 0 ? undefined : { tenant_id, rule_id, lease_id, matches: [...matches] };
}

/** @returns whether some match is still held */
export async function renewLease(sql: Sql, { lease_id, matches }: MatchBatch, leaseSeconds: number): Promise<boolean> {
  const { count } = await sql`
    update rule_matches set leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}),
      available_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where match_id = any(${idsOf(matches)}::uuid[]) and lease_id = ${lease_id} and status = 'pending'`;
  return count > 0;
}

const idsOf = (matches: readonly { match_id: string }[]): string[] => matches.map((match) => match.match_id);

/** Locks those of the matches that the lease still holds. @returns their ids */
export async function lockHeld(
  tx: Transaction,
  leaseId: string,
  matches: readonly { match_id: string }[],
): Promise<Set<string>> {
  const rows = await tx<{ match_id: string }[]>`
    select match_id from rule_matches
    where match_id = any(${idsOf(matches)}::uuid[]) and lease_id = ${leaseId} and status = 'pending'
    order by match_id for update`;
  return new Set(rows.map((row) => row.match_id));
}

export interface RecordedOutcome {
  match_id: string;
  outcomes: Outcomes;
  /** Adds to the cost, as decimal text. */
  cost_usd?: string | null;
}

/** Texts of models and receivers may have characters that Postgres does not store. */
const encode = (records: readonly object[]): string => JSON.stringify(cleanStrings([...records]));

/** Records outcomes of matches that the lease holds. */
export async function recordOutcomes(
  sql: Sql | Transaction,
  leaseId: string,
  records: readonly RecordedOutcome[],
): Promise<void> {
  if (records.length === 0) return;
  await sql`
    update rule_matches m set outcomes = m.outcomes || r.outcomes,
      cost_usd = case when r.cost_usd is null then m.cost_usd else coalesce(m.cost_usd, 0) + r.cost_usd end
    from jsonb_to_recordset(${encode(records)}::text::jsonb)
      as r (match_id uuid, outcomes jsonb, cost_usd numeric)
    where m.match_id = r.match_id and m.lease_id = ${leaseId} and m.status = 'pending'`;
}

export interface EndedMatch {
  match_id: string;
  status: "done" | "failed" | "skipped";
  reason: string | null;
  outcomes: Outcomes;
}

const KILLED = "The process that acted was killed or lost its lease each time.";

/** Ends matches that the lease holds. Outcomes are added to those that were recorded. */
export async function endMatches(tx: Sql | Transaction, leaseId: string, ended: readonly EndedMatch[]): Promise<void> {
  if (ended.length === 0) return;
  await tx`
    update rule_matches m set status = r.status, outcomes = m.outcomes || r.outcomes,
      reason = case when r.status = 'failed' then coalesce(r.reason, m.reason, ${KILLED}) else r.reason end,
      ended_at = clock_timestamp(), leased_until = null
    from jsonb_to_recordset(${encode(ended)}::text::jsonb)
      as r (match_id uuid, status text, reason text, outcomes jsonb)
    where m.match_id = r.match_id and m.lease_id = ${leaseId} and m.status = 'pending'`;
}

export interface PostponedMatch {
  match_id: string;
  pauseMs: number;
  reason: string | null;
  /** Whether the attempt counts. */
  counts: boolean;
}

/** Hands matches back to the queue. */
export async function postponeMatches(
  sql: Sql | Transaction,
  leaseId: string,
  postponed: readonly PostponedMatch[],
): Promise<void> {
  if (postponed.length === 0) return;
  await sql`
    update rule_matches m set leased_until = null, lease_id = null,
      reason = coalesce(r.reason, m.reason),
      attempts = greatest(0, m.attempts - case when r.counts then 0 else 1 end),
      available_at = clock_timestamp() + make_interval(secs => r."pauseMs" / 1000)
    from jsonb_to_recordset(${encode(postponed)}::text::jsonb)
      as r (match_id uuid, "pauseMs" float8, reason text, counts boolean)
    where m.match_id = r.match_id and m.lease_id = ${leaseId} and m.status = 'pending'`;
}

/** Makes the waiting matches of a rule due. */
export async function hurryMatches(sql: Sql | Transaction, tenantId: string, ruleId: string): Promise<void> {
  await sql`
    update rule_matches set available_at = clock_timestamp()
    where tenant_id = ${tenantId} and rule_id = ${ruleId} and status = 'pending' and leased_until is null`;
}

/**
 * Queues a failed or skipped match again. Actions that succeeded are not repeated.
 * @returns its status before; undefined without such a match
 */
export async function retryMatch(
  sql: Sql,
  tenantId: string,
  ruleId: string,
  runId: string,
): Promise<{ status: string; retried: boolean } | undefined> {
  const [row] = await sql<{ status: string; retried: boolean }[]>`
    with found as (
      select match_id, status from rule_matches
      where tenant_id = ${tenantId} and rule_id = ${ruleId} and run_id = ${runId} for update
    ), retried as (
      update rule_matches m set status = 'pending', reason = null, attempts = 0, available_at = clock_timestamp(),
        ended_at = null, lease_id = null, leased_until = null, outcomes = (
          select coalesce(jsonb_object_agg(key, value) filter (where value ->> 'outcome' = 'success'), '{}')
          from jsonb_each(m.outcomes))
      from found f where m.match_id = f.match_id and f.status in ('failed', 'skipped') returning 1
    )
    select status, exists (select 1 from retried) as retried from found`;
  return row;
}
