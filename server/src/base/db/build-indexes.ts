import type { Sql } from "./connect.ts";

const STATEMENT = /^create index concurrently if not exists (\w+) on [^;]+;$/gm;

/** Advisory lock of the server that builds; two builds of one index may wait for each other. Reserved for this. */
const LOCK = 7_236_544;

/**
 * Builds indexes that are missing, without locking out writers; a migration would hold its table for about a second per
 * million rows. An index whose build was interrupted is built anew. A server leaves them to one that is building. They are for
 * speed only: if one cannot be built, a warning says why, and the next start tries again.
 *
 * @param text migrations/postgres/indexes.sql
 */
export async function buildIndexes(sql: Sql, text: string): Promise<void> {
  const statements = [...text.matchAll(STATEMENT)];
  const names = statements.map(([, name]) => name!);
  const valid = await sql`
    select from pg_index where indisvalid and indexrelid in (select to_regclass(n) from unnest(${names}::text[]) n)`;
  if (valid.length === names.length) return;
  const own = await sql.reserve();
  let isLocked = false;
  try {
    const [lock] = await own<{ held: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as held`;
    isLocked = lock!.held;
    if (!isLocked) return;
    // builds wait for all older transactions
    await own`set statement_timeout = 0`;
    await own`set lock_timeout = 0`;
    for (const [statement, name] of statements) {
      const [found] = await own<{ valid: boolean }[]>`
        select indisvalid as valid from pg_index where indexrelid = to_regclass(${name!})`;
      if (found?.valid) continue;
      if (found) await own.unsafe(`drop index concurrently if exists ${name}`);
      await own.unsafe(statement);
    }
  } catch (error) {
    process.emitWarning(`An index could not be built: ${(error as Error).message}. The next start tries again.`);
  } finally {
    if (isLocked) {
      // of a lost connection nothing is left
      await own`reset statement_timeout`.catch(() => {});
      await own`reset lock_timeout`.catch(() => {});
      await own`select pg_advisory_unlock(${LOCK})`.catch(() => {});
    }
    own.release();
  }
}
