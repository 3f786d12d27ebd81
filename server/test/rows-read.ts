import type { Sql } from "../src/base/db/connect.ts";

/** Returns the rows of a table that the statements of `work` read, whether by a scan or by an index. Nothing is kept. */
export async function rowsRead(sql: Sql, table: string, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let read = 0;
  const undo = new Error("rolled back");
  await sql
    .begin(async (tx) => {
      await work(tx as unknown as Sql);
      const [row] = await tx<{ read: number }[]>`
        select (pg_stat_get_xact_tuples_returned(${table}::regclass) + pg_stat_get_xact_tuples_fetched(${table}::regclass)
          + coalesce((select sum(pg_stat_get_xact_tuples_fetched(indexrelid)) from pg_index
                      where indrelid = ${table}::regclass), 0))::int as read`;
      read = row!.read;
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return read;
}

interface PlanStep {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: PlanStep[];
}

/**
 * Returns the rows that the steps of the plans of `work`'s statements yield or discard, those of intermediate results
 * too, which `rowsRead` does not count. Each statement is executed twice.
 */
export async function rowsInSteps(sql: Sql, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let rows = 0;
  const explaining = new Proxy(sql, {
    async apply(target, self, [strings, ...values]: [TemplateStringsArray, ...never[]]) {
      const [first, ...rest] = strings;
      const explain = [`explain (analyze, timing off, format json) ${first}`, ...rest];
      const [found] = await sql(Object.assign(explain, { raw: explain }), ...values);
      rows += countRows(found!["QUERY PLAN"][0].Plan as PlanStep);
      return (await Reflect.apply(target as never, self, [strings, ...values])) as unknown;
    },
  });
  await work(explaining);
  return rows;
}

function countRows(step: PlanStep): number {
  const removed = (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Join Filter"] ?? 0);
  const below = (step.Plans ?? []).map(countRows);
  return below.reduce((sum, rows) => sum + rows, (step["Actual Rows"] + removed) * step["Actual Loops"]);
}
