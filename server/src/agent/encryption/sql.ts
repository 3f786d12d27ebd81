import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface StateKeyRow {
  key_id: string;
  wrapped_by: string;
  wrapped: Buffer;
  /** Seconds since its creation, by the database's clock. */
  age: number;
  /** Whether the key that encrypted it was replaced since. */
  replaced: boolean;
}

/** Newest first. A key is created per day, so there are a few hundred a year. */
export function selectStateKeys(sql: Sql | Transaction): Promise<StateKeyRow[]> {
  return sql<StateKeyRow[]>`
    select key_id, wrapped_by, wrapped, extract(epoch from clock_timestamp() - created_at)::float8 as age,
           replaced_at is not null as replaced
    from state_keys order by created_at desc, key_id`;
}

export async function insertStateKey(
  tx: Transaction,
  row: Pick<StateKeyRow, "key_id" | "wrapped_by" | "wrapped">,
): Promise<void> {
  await tx`insert into state_keys (key_id, wrapped_by, wrapped) values (${row.key_id}, ${row.wrapped_by}, ${row.wrapped})`;
}

/** Stores a data key that another key encrypts from now on. */
export async function rewrapStateKey(
  tx: Transaction,
  row: Pick<StateKeyRow, "key_id" | "wrapped_by" | "wrapped">,
): Promise<void> {
  await tx`
    update state_keys set wrapped_by = ${row.wrapped_by}, wrapped = ${row.wrapped}, replaced_at = now()
    where key_id = ${row.key_id}`;
}

export async function updateWrapped(
  sql: Sql | Transaction,
  row: Pick<StateKeyRow, "key_id" | "wrapped_by" | "wrapped">,
): Promise<void> {
  await sql`
    update state_keys set wrapped_by = ${row.wrapped_by}, wrapped = ${row.wrapped} where key_id = ${row.key_id}`;
}

/** Serializes the creation and rotation of keys over all servers. */
export async function lockStateKeys(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('heddle state keys', 0))`;
}
