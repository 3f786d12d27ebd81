import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { insertRuleCandidates, type RuleCandidateRun } from "../rules/sql.ts";

export type BackfillStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

/** Back-fill as the API shows it. Times are ISO text. */
export interface BackfillRow {
  backfill_id: string;
  rule_id: string;
  backfill_from: string;
  backfill_to: string;
  status: BackfillStatus;
  done: number;
  total: number | null;
  error: string | null;
  created_at: string;
  completed_at: string | null;
}

const COLUMNS = `b.backfill_id, b.rule_id, ${utcText("b.backfill_from")} as backfill_from,
  ${utcText("b.backfill_to")} as backfill_to, b.status, b.done::float8 as done, b.total::float8 as total, b.error,
  ${utcText("b.created_at")} as created_at, ${utcText("b.completed_at")} as completed_at`;

/** Lists the back-fills of a rule, the newest first. */
export const listBackfills = (sql: Sql, tenantId: string, ruleId: string, limit: number): Promise<BackfillRow[]> =>
  sql<BackfillRow[]>`
    select ${sql.unsafe(COLUMNS)} from rule_backfills b
    where b.tenant_id = ${tenantId} and b.rule_id = ${ruleId}
    order by ${sql.unsafe("b.created_at")} desc, ${sql.unsafe("b.backfill_id")} desc limit ${limit}`;

export interface ClaimedBackfill {
  tenant_id: string;
  rule_id: string;
  backfill_id: string;
  lease_id: string;
  /** As in ClickHouse, in UTC. */
  backfill_from: string;
  backfill_to: string;
  done: number;
  total: number | null;
  cursor_start_time: string | null;
  cursor_run_id: string | null;
}

const micros = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as `;

/**
 * Claims the next open back-fill under a lease. Workspaces with the fewest claimed ones come first. Served by
 * rule_backfills_open.
 */
export async function claimBackfill(sql: Sql, leaseSeconds: number): Promise<ClaimedBackfill | undefined> {
  const [row] = await sql<ClaimedBackfill[]>`
    update rule_backfills b set status = 'running', lease_id = ${uuid7()},
      leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where (tenant_id, backfill_id) = (
      select w.tenant_id, w.backfill_id from rule_backfills w
      where w.status in ('pending', 'running') and (w.leased_until is null or w.leased_until < clock_timestamp())
      order by (select count(*) from rule_backfills h where h.tenant_id = w.tenant_id
        and h.status = 'running' and h.leased_until >= clock_timestamp()), w.created_at
      limit 1 for update of w skip locked)
    returning b.tenant_id, b.rule_id, b.backfill_id, b.lease_id, ${sql.unsafe(`${micros("backfill_from")}backfill_from,
      ${micros("backfill_to")}backfill_to, ${micros("cursor_start_time")}cursor_start_time`)},
      b.cursor_run_id, b.done::float8 as done, b.total::float8 as total`;
  return row;
}

type Leased = Pick<ClaimedBackfill, "tenant_id" | "backfill_id" | "lease_id">;

/** Renews the lease. @returns the status; undefined when another process has the back-fill */
export async function renewBackfill(
  sql: Sql,
  { tenant_id, backfill_id, lease_id }: Leased,
  leaseSeconds: number,
): Promise<BackfillStatus | undefined> {
  const [row] = await sql<{ status: BackfillStatus }[]>`
    update rule_backfills set leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where tenant_id = ${tenant_id} and backfill_id = ${backfill_id} and lease_id = ${lease_id} returning status`;
  return row?.status;
}

export async function putTotal(sql: Sql, { tenant_id, backfill_id, lease_id }: Leased, total: number): Promise<void> {
  await sql`update rule_backfills set total = ${total}
    where tenant_id = ${tenant_id} and backfill_id = ${backfill_id} and lease_id = ${lease_id}`;
}

/**
 * Enqueues a page of runs for the rule and moves the cursor behind it.
 * @returns false when the back-fill was cancelled, or belongs to another process
 */
export async function enqueuePage(
  tx: Transaction,
  backfill: ClaimedBackfill,
  keys: readonly RuleCandidateRun[],
): Promise<boolean> {
  const last = keys.at(-1)!;
  const moved = await tx`
    update rule_backfills set done = done + ${keys.length}, cursor_run_id = ${last.id},
      cursor_start_time = ${last.start_time}::text::timestamp at time zone 'UTC'
    where tenant_id = ${backfill.tenant_id} and backfill_id = ${backfill.backfill_id}
      and lease_id = ${backfill.lease_id} and status = 'running'
    returning 1`;
  if (moved.length > 0) await insertRuleCandidates(tx, backfill.tenant_id, backfill.rule_id, keys);
  return moved.length > 0;
}

/** Ends a back-fill, unless it was ended already. */
export async function endBackfill(
  sql: Sql,
  { tenant_id, backfill_id, lease_id }: Leased,
  status: "completed" | "failed",
  error: string | null,
): Promise<void> {
  await sql`
    update rule_backfills set status = ${status}, error = ${error}, completed_at = clock_timestamp(),
      leased_until = null, total = case when ${status} = 'completed' then done else total end
    where tenant_id = ${tenant_id} and backfill_id = ${backfill_id} and lease_id = ${lease_id} and status = 'running'`;
}

/** Hands a back-fill back to the queue, soon: its stores may be away. */
export async function releaseBackfill(sql: Sql, { tenant_id, backfill_id, lease_id }: Leased): Promise<void> {
  await sql`
    update rule_backfills set leased_until = clock_timestamp() + interval '2 seconds'
    where tenant_id = ${tenant_id} and backfill_id = ${backfill_id} and lease_id = ${lease_id} and status = 'running'`;
}

/**
 * Cancels an open back-fill: runs that it has enqueued are not looked at, and its pending matches are skipped, except
 * those that are being acted on.
 * @returns the status that it had; undefined without such a back-fill
 */
export async function cancelBackfill(
  tx: Transaction,
  tenantId: string,
  ruleId: string,
  id: string,
): Promise<BackfillStatus | undefined> {
  const [row] = await tx<{ status: BackfillStatus }[]>`
    select status from rule_backfills
    where tenant_id = ${tenantId} and rule_id = ${ruleId} and backfill_id = ${id} for update`;
  if (!row || (row.status !== "pending" && row.status !== "running")) return row?.status;
  await tx`update rule_backfills set status = 'cancelled', completed_at = clock_timestamp()
    where tenant_id = ${tenantId} and backfill_id = ${id}`;
  await tx`delete from rule_candidates where tenant_id = ${tenantId} and rule_id = ${ruleId}`;
  await tx`
    update rule_matches set status = 'skipped', reason = 'The back-fill was cancelled.', ended_at = clock_timestamp()
    where tenant_id = ${tenantId} and rule_id = ${ruleId} and status = 'pending' and is_backfill
      and (leased_until is null or leased_until < clock_timestamp())`;
  return row.status;
}

/** Counts the rule's candidates that wait for its matcher, up to a number. */
export async function countWaiting(sql: Sql, { tenant_id, rule_id }: ClaimedBackfill, most: number): Promise<number> {
  const [row] = await sql<{ size: number }[]>`
    select count(*)::int as size from (
      select 1 from rule_candidates where tenant_id = ${tenant_id} and rule_id = ${rule_id} limit ${most}) waiting`;
  return row!.size;
}
