import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { DestinationConfig } from "./schema.ts";

export const CHANNEL = "heddle_destination_test";

/** Inserts a test. Workers are notified when the transaction commits. */
export async function insertTest(
  tx: Transaction,
  test: { id: string; tenant_id: string; config: DestinationConfig },
): Promise<void> {
  await tx`
    insert into export_destination_tests (id, tenant_id, config)
    values (${test.id}, ${test.tenant_id}, ${JSON.stringify(test.config)}::text::jsonb)`;
  await tx`select pg_notify(${CHANNEL}, ${test.id})`;
}

export async function selectTest(
  sql: Sql,
  id: string,
): Promise<{ finished_at: Date | null; failure: string | null } | undefined> {
  const [row] = await sql<{ finished_at: Date | null; failure: string | null }[]>`
    select finished_at, failure from export_destination_tests where id = ${id}`;
  return row;
}

export interface ClaimedTest {
  id: string;
  config: DestinationConfig;
}

export async function claimTest(sql: Sql): Promise<ClaimedTest | undefined> {
  const [row] = await sql<ClaimedTest[]>`
    update export_destination_tests set claimed_at = now()
    where id = (select id from export_destination_tests where claimed_at is null
      order by created_at limit 1 for update skip locked)
    returning id, config`;
  return row;
}

export const finishTest = (sql: Sql, id: string, failure: string | null) => sql`
  update export_destination_tests set finished_at = now(), failure = ${failure} where id = ${id}`;

export const deleteTest = (sql: Sql, id: string) => sql`delete from export_destination_tests where id = ${id}`;

/** @returns the ids of the deleted tests */
export async function deleteOldTests(sql: Sql): Promise<string[]> {
  const deleted = await sql<{ id: string }[]>`
    delete from export_destination_tests where created_at < now() - interval '10 minutes' returning id`;
  return deleted.map((row) => row.id);
}
