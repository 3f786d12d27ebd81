import type { Sql } from "./connect.ts";

const STATEMENT = /^create index concurrently if not exists (\w+) on [^;]+;$/gm;

/** SQLSTATEs of a build that another server has begun at the same moment. */
const BEGUN_ELSEWHERE = new Set(["42P07", "23505", "40P01"]);

/**
 * Builds indexes that are missing, without locking out writers; a migration would hold its table for about a second per
 * million rows. An index whose build was interrupted is built anew. `text`: migrations/postgres/indexes.sql.
 */
export async function buildIndexes(sql: Sql, text: string): Promise<void> {
  for (const [statement, name] of text.matchAll(STATEMENT)) {
    const [found] = await sql<{ usable: boolean }[]>`
      select i.indisvalid or exists (
        select 1 from pg_stat_progress_create_index p where p.index_relid = i.indexrelid) as usable
      from pg_index i where i.indexrelid = to_regclass(${name!})`;
    if (found?.usable) continue;
    if (found) await sql.unsafe(`drop index concurrently if exists ${name}`);
    await sql.unsafe(statement).catch((error: unknown) => {
      if (!BEGUN_ELSEWHERE.has((error as { code?: string }).code ?? "")) throw error;
    });
  }
}
