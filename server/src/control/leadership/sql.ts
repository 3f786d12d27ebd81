/** Statements on the leader's lease. Only this file writes the table. Times are the database's. */
import type { Sql } from "../../base/db/connect.ts";
import type { ProcessIdentity } from "../../base/db/process-identity.ts";

export interface Holder extends ProcessIdentity {
  /** Distinguishes control planes of one process. */
  id: string;
  /** Identifies its data directory. */
  directory: string;
}

export interface LeaseRow {
  term: string;
  holder: Holder | null;
  is_expired: boolean;
}

export async function selectLease(sql: Sql): Promise<LeaseRow> {
  const [row] = await sql<LeaseRow[]>`
    select term, holder, lease_until < clock_timestamp() as is_expired from control_leader`;
  return row!;
}

/** Takes the lease of a term that has ended. @returns the new term; undefined when another process was faster */
export async function takeLease(
  sql: Sql,
  { seen, holder, leaseMs, isGone }: { seen: string; holder: Holder; leaseMs: number; isGone: boolean },
): Promise<string | undefined> {
  const [row] = await sql<{ term: string }[]>`
    update control_leader set term = term + 1, holder = ${JSON.stringify(holder)}::text::jsonb,
      lease_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    where term = ${seen} and (holder is null or lease_until < clock_timestamp() or ${isGone})
    returning term`;
  return row?.term;
}

/** Renews the lease, even an expired one, unless another process has taken it. @returns false when another term has begun */
export async function renewLease(sql: Sql, term: string, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    update control_leader set lease_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    where term = ${term} and holder is not null`;
  return count === 1;
}

export const releaseLease = (sql: Sql, term: string) => sql`
  update control_leader set holder = null, lease_until = '-infinity' where term = ${term}`;

export async function selectInstallation(sql: Sql): Promise<string> {
  const [row] = await sql<{ installation: string }[]>`select installation from control_leader`;
  return row!.installation;
}
