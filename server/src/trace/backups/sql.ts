import type { FrozenTable } from "../../base/clickhouse/freeze.ts";
import type { Sql } from "../../base/db/connect.ts";

export interface TraceCopy {
  tables: FrozenTable[] | null;
  /** Schema version of the store. */
  version: number | null;
  error: string | null;
}

/** A backup that has not renewed its request for this long has ended. */
const ALIVE_SECONDS = 60;

export const insertCopy = (sql: Sql, id: string) => sql`insert into trace_copies (copy_id) values (${id})`;

/** Renews a request. @returns its state; undefined when it was removed */
export async function renewCopy(sql: Sql, id: string): Promise<TraceCopy | undefined> {
  const [row] = await sql<TraceCopy[]>`
    update trace_copies set seen_at = now() where copy_id = ${id} returning tables, version, error`;
  return row;
}

export const deleteCopy = (sql: Sql, id: string) => sql`delete from trace_copies where copy_id = ${id}`;

/** Returns requests that no process has answered, at most 10. */
export async function listRequests(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select copy_id as id from trace_copies
    where tables is null and error is null and seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})
    order by requested_at limit 10`;
  return rows.map(({ id }) => id);
}

export const answerCopy = (sql: Sql, id: string, answer: Partial<TraceCopy>) => sql`
  update trace_copies
  set tables = ${answer.tables ? JSON.stringify(answer.tables) : null}::text::jsonb,
    version = ${answer.version ?? null}, error = ${answer.error ?? null}
  where copy_id = ${id}`;

/** Removes requests of backups that have ended without removing theirs. */
export const deleteAbandoned = (sql: Sql) => sql`
  delete from trace_copies where seen_at < now() - make_interval(secs => ${ALIVE_SECONDS})`;

export async function listCopies(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select copy_id as id from trace_copies limit 1000`;
  return rows.map(({ id }) => id);
}
