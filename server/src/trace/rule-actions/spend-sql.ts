import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { MatchBatch } from "./match-sql.ts";

export type SpendWindow = "daily" | "weekly" | "monthly";

const UNITS = { daily: "day", weekly: "week", monthly: "month" } as const;

const startOf = (window: SpendWindow) => `date_trunc('${UNITS[window]}', now() at time zone 'UTC')::date`;

type OfRule = Pick<MatchBatch, "tenant_id" | "rule_id">;

/** Costs that predict that of the next judgement; those that failed without a cost say nothing. */
const RECENT = 20;
const LOOKED_AT = 500;

export interface Spending {
  /** Decimal text. */
  spent: string;
  reserved: string;
  /** Whether a judgement of unknown cost is in progress. */
  isOpen: boolean;
  /** Highest of the recent costs of a match; null without any. */
  estimate: string | null;
  /** Whether `spent + reserved + estimate` exceeds the limit. */
  exceeds: boolean;
  /** Whether `spent` has reached the limit, or would exceed it with the estimate. */
  isExhausted: boolean;
  next_window: string;
}

/** Creates and locks the sum of the window, so that a rule's reservations are made one after another. */
export const lockSpending = (tx: Transaction, rule: OfRule, window: SpendWindow): PromiseLike<unknown> => tx`
  insert into rule_spending (tenant_id, rule_id, window_start)
  values (${rule.tenant_id}, ${rule.rule_id}, ${tx.unsafe(startOf(window))})
  on conflict (tenant_id, rule_id, window_start) do update set spent_usd = rule_spending.spent_usd`;

/** Counts the rule's reservations of lost leases as spent: their judgements were probably paid. */
export const settleLost = (tx: Transaction, { tenant_id, rule_id }: OfRule): PromiseLike<unknown> => tx`
  with lost as (
    delete from rule_reservations r using rule_matches m
    where r.tenant_id = ${tenant_id} and r.rule_id = ${rule_id} and m.match_id = r.match_id
      and (m.status <> 'pending' or m.lease_id is distinct from r.lease_id or m.leased_until < clock_timestamp())
    returning r.window_start, r.amount_usd
  ), sums as (select window_start, sum(amount_usd) as amount from lost group by window_start)
  update rule_spending s set spent_usd = s.spent_usd + sums.amount
  from sums where s.tenant_id = ${tenant_id} and s.rule_id = ${rule_id} and s.window_start = sums.window_start
    and sums.amount is not null`;

export async function findSpending(
  sql: Sql | Transaction,
  { tenant_id, rule_id }: OfRule,
  window: SpendWindow,
  limit: string,
): Promise<Spending> {
  const start = sql.unsafe(startOf(window));
  const [row] = await sql<Spending[]>`
    with sums as (
      select coalesce((select spent_usd from rule_spending where tenant_id = ${tenant_id} and rule_id = ${rule_id}
          and window_start = ${start}), 0) as spent,
        coalesce(sum(amount_usd), 0) as reserved, coalesce(bool_or(amount_usd is null), false) and count(*) > 0 as open
      from rule_reservations where tenant_id = ${tenant_id} and rule_id = ${rule_id} and window_start = ${start}
    ), estimate as (
      select coalesce(max(cost_usd) filter (where cost_usd > 0 and place <= ${RECENT}),
        min(cost_usd) filter (where cost_usd = 0 and status = 'done')) as most
      from (
        select cost_usd, status, row_number() over (partition by cost_usd > 0 order by matched_at desc, match_id desc) as place
        from (
          select cost_usd, status, matched_at, match_id from rule_matches
          where tenant_id = ${tenant_id} and rule_id = ${rule_id}
            and cost_usd is not null order by matched_at desc, match_id desc limit ${LOOKED_AT}) looked) recent
    )
    select trim_scale(spent)::text as spent, trim_scale(reserved)::text as reserved, open as "isOpen",
      trim_scale(most)::text as estimate, spent + reserved + coalesce(most, 0) > ${limit}::text::numeric as exceeds,
      spent >= ${limit}::text::numeric or spent + coalesce(most, 0) > ${limit}::text::numeric as "isExhausted",
      to_char(${start} + interval '1 ${sql.unsafe(UNITS[window])}', 'YYYY-MM-DD') as next_window
    from sums, estimate`;
  return row!;
}

export const insertReservation = (
  tx: Transaction,
  batch: Pick<MatchBatch, "tenant_id" | "rule_id" | "lease_id">,
  matchId: string,
  window: SpendWindow,
  amount: string | null,
): PromiseLike<unknown> => tx`
  insert into rule_reservations (match_id, tenant_id, rule_id, window_start, amount_usd, lease_id)
  values (${matchId}, ${batch.tenant_id}, ${batch.rule_id}, ${tx.unsafe(startOf(window))},
    ${amount}::text::numeric, ${batch.lease_id})
  on conflict (match_id) do nothing`;

/** Adds what a match has cost to the window of its reservation. */
export const addSpent = (tx: Sql | Transaction, matchId: string, cost: string): PromiseLike<unknown> => tx`
  update rule_spending s set spent_usd = s.spent_usd + ${cost}::text::numeric
  from rule_reservations r where r.match_id = ${matchId}
    and s.tenant_id = r.tenant_id and s.rule_id = r.rule_id and s.window_start = r.window_start`;

export const deleteReservation = (tx: Sql | Transaction, matchId: string, leaseId: string): PromiseLike<unknown> => tx`
  delete from rule_reservations where match_id = ${matchId} and lease_id = ${leaseId}`;
