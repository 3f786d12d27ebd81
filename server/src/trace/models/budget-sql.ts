import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface BudgetRow {
  /** First day of the current month, `YYYY-MM-DD`, and of the next. */
  month: string;
  next_month: string;
  limit_usd: string | null;
  spent_usd: string;
  reserved_usd: string;
  calls: number;
  tokens: number;
}

const MONTH = "date_trunc('month', now() at time zone 'UTC')::date";

/** Reads the budget of the current month. */
export async function findBudget(sql: Sql | Transaction, tenantId: string): Promise<BudgetRow> {
  const [row] = await sql<BudgetRow[]>`
    select to_char(m.month, 'YYYY-MM-DD') as month, to_char(m.month + interval '1 month', 'YYYY-MM-DD') as next_month,
      trim_scale(b.limit_usd)::text as limit_usd, trim_scale(coalesce(s.spent_usd, 0))::text as spent_usd,
      trim_scale(coalesce((
        select sum(r.amount_usd) from model_reservations r
        where r.tenant_id = ${tenantId} and r.month = m.month and r.expires_at > now()), 0))::text as reserved_usd,
      coalesce(s.calls, 0)::float8 as calls, coalesce(s.tokens, 0)::float8 as tokens
    from (select ${sql.unsafe(MONTH)} as month) m
      left join model_budgets b on b.tenant_id = ${tenantId}
      left join model_spending s on s.tenant_id = ${tenantId} and s.month = m.month`;
  return row!;
}

export const putBudget = (sql: Sql, tenantId: string, limit: string | null): PromiseLike<unknown> => sql`
  insert into model_budgets (tenant_id, limit_usd) values (${tenantId}, ${limit}::text::numeric)
  on conflict (tenant_id) do update set limit_usd = excluded.limit_usd, updated_at = now()`;

/** Creates and locks the row of the current month, so that reservations are made one after another. */
export const lockSpending = (tx: Transaction, tenantId: string): PromiseLike<unknown> => tx`
  insert into model_spending (tenant_id, month) values (${tenantId}, ${tx.unsafe(MONTH)})
  on conflict (tenant_id, month) do update set calls = model_spending.calls`;

export const insertReservation = (
  tx: Transaction,
  tenantId: string,
  { id, month, amount, seconds }: { id: string; month: string; amount: string; seconds: number },
): PromiseLike<unknown> => tx`
  insert into model_reservations (id, tenant_id, month, amount_usd, expires_at)
  values (${id}, ${tenantId}, ${month}::text::date, ${amount}::text::numeric, now() + make_interval(secs => ${seconds}))`;

/** Deletes the reservations of calls that never ended. */
export const deleteExpiredReservations = (tx: Transaction, tenantId: string): PromiseLike<unknown> => tx`
  delete from model_reservations where tenant_id = ${tenantId} and expires_at < now()`;

/** Replaces a reservation by what the call cost. */
export const settleReservation = (
  sql: Sql,
  tenantId: string,
  { id, month, cost, tokens }: { id: string; month: string; cost: string; tokens: number },
): PromiseLike<unknown> => sql`
  with released as (delete from model_reservations where tenant_id = ${tenantId} and id = ${id})
  insert into model_spending (tenant_id, month, spent_usd, calls, tokens)
  values (${tenantId}, ${month}::text::date, ${cost}::text::numeric, 1, ${tokens})
  on conflict (tenant_id, month) do update set spent_usd = model_spending.spent_usd + excluded.spent_usd,
    calls = model_spending.calls + 1, tokens = model_spending.tokens + excluded.tokens`;
