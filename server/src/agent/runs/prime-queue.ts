import type { Sql } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { createRuns, finishRuns } from "./sql.ts";

class Rehearsed extends Error {}

/**
 * Takes one run from creation to its end on each connection and rolls it back. Postgres compiles and plans a function's
 * statements per connection on their first execution, which would cost the first callers some 10 ms each.
 */
export async function primeQueue(hotSql: Sql, assistantId: string, serverId: string): Promise<void> {
  const rehearse = () =>
    hotSql
      .begin(async (tx) => {
        // the same statements, because a transaction has the same query interface
        const sql = tx as unknown as Sql;
        const run = { runId: uuid7(), threadId: uuid7(), assistantId };
        const created = {
          kwargs: "{}",
          metadata: "{}",
          strategy: "enqueue",
          createThread: true,
          afterSeconds: 0,
        } as const;
        await createRuns(sql, [{ ...run, ...created, temporary: false, describe: true, serverId, claim: true }], false);
        const ended = {
          attempt: 1,
          outcome: "success",
          error: null,
          state: '{"values":{},"next":[],"interrupts":{}}',
        } as const;
        await finishRuns(sql, [{ ...run, ...ended }], false);
        // again, on a thread that exists
        const second = { ...run, runId: uuid7() };
        await createRuns(
          sql,
          [{ ...second, ...created, temporary: false, describe: false, serverId, claim: true, firstFrame: "" }],
          false,
        );
        await finishRuns(sql, [{ ...second, ...ended }], false);
        throw new Rehearsed();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Rehearsed)) throw error;
      });
  await Promise.all(Array.from({ length: hotSql.options.max }, rehearse));
}
