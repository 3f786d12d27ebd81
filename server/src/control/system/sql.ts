/** Statements that metrics read at a scrape. */
import type { Sql } from "../../base/db/connect.ts";

const toCounts = (rows: { name: string; count: number }[]): Record<string, number> =>
  Object.fromEntries(rows.map(({ name, count }) => [name, count]));

export async function countRevisions(sql: Sql): Promise<Record<string, number>> {
  return toCounts(
    await sql<{ name: string; count: number }[]>`
      select status as name, count(*)::int as count from revisions group by status limit 100`,
  );
}

/** Counts live instances by state, and crashed ones among those that are still recorded. */
export async function countInstances(sql: Sql): Promise<{ states: Record<string, number>; crashed: number }> {
  const rows = await sql<{ name: string; count: number; crashed: number }[]>`
    select state as name, count(*)::int as count, count(*) filter (where crashed)::int as crashed
    from instances group by state limit 10`;
  return { states: toCounts([...rows]), crashed: rows.reduce((sum, { crashed }) => sum + crashed, 0) };
}
