import type { AccessCondition } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { permits } from "./conditions.ts";

type Conditions = readonly AccessCondition[];

export async function isThreadPermitted(sql: Sql | Transaction, id: string, conditions: Conditions): Promise<boolean> {
  const rows = await sql`
    select 1 from threads t where thread_id = ${id} and ${permits(sql, "t.metadata", conditions)}`;
  return rows.length > 0;
}

/** Filters threads, each by its own conditions. */
export async function selectPermittedThreads(
  sql: Sql,
  threads: { thread_id: string; conditions: Conditions }[],
): Promise<string[]> {
  const rows = await sql<{ thread_id: string }[]>`
    select t.thread_id
    from json_to_recordset(${JSON.stringify(threads)}::text::json) as w(thread_id uuid, conditions jsonb)
    join threads t on t.thread_id = w.thread_id and access_permits(t.metadata, w.conditions)`;
  return rows.map((row) => row.thread_id);
}

/** The thread of a run; undefined when the run does not exist. */
export async function selectThreadOfRun(sql: Sql, runId: string): Promise<string | undefined> {
  const [row] = await sql<{ thread_id: string }[]>`select thread_id from runs where run_id = ${runId}`;
  return row?.thread_id;
}

export async function isAssistantPermitted(sql: Sql, id: string, conditions: Conditions): Promise<boolean> {
  const rows = await sql`
    select 1 from assistants a where assistant_id = ${id} and ${permits(sql, "a.metadata", conditions)}`;
  return rows.length > 0;
}

export async function isCronPermitted(sql: Sql, id: string, conditions: Conditions): Promise<boolean> {
  const rows = await sql`select 1 from crons c where cron_id = ${id} and ${permits(sql, "c.metadata", conditions)}`;
  return rows.length > 0;
}

/** Whether metadata that is in no row meets the conditions. */
export async function isPermitted(sql: Sql, metadata: unknown, conditions: Conditions): Promise<boolean> {
  if (conditions.length === 0) return true;
  const [row] = await sql<{ permitted: boolean }[]>`
    select access_permits(${JSON.stringify(metadata)}::text::jsonb, ${JSON.stringify(conditions)}::text::jsonb) as permitted`;
  return row!.permitted;
}
