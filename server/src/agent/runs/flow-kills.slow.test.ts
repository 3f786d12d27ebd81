/**
 * Kills the database session inside every statement of flow control that writes, one kill for each pass through
 * the same calls, which are sent again as servers do. What the tables say at the end must not depend on the kill.
 */
import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { connect } from "../../base/db/connect.ts";
import { queueSection } from "../project/queue-config.ts";
import { cancelRunRow, claimRuns, createRuns, finishRuns, putQueueRules, releaseRun } from "./sql.ts";

const { sql, uri, me, newRun } = await queueRows();

const TABLES = ["run_queue_clock", "run_queue_events", "run_lanes", "run_ready", "run_slots", "run_rates", "runs"];

await sql.unsafe(`
  create sequence writes;
  create table kill_at (n bigint);
  create table written (n bigint, statement text);
  create function maybe_die() returns trigger language plpgsql as $$
  declare
    _at bigint;
    _context text;
  begin
    if current_setting('application_name') <> 'killed' then return null; end if;
    _at := nextval('writes');
    if _at = (select n from kill_at) then
      perform pg_terminate_backend(pg_backend_pid());
    elsif (select n from kill_at) = -1 then
      get diagnostics _context = pg_context;
      insert into written values (_at, _context);
    end if;
    return null;
  end $$;
  ${TABLES.map(
    (table) => `create trigger die after insert or update or delete on ${table}
      for each statement execute function maybe_die();`,
  ).join("\n")}`);

/** Creates, claims, ends, returns, cancels, replaces and expires runs. Returns the final tables, without ids. */
async function pass(killAt: number): Promise<{ killed: boolean; summary: unknown }> {
  await sql`truncate runs, threads, run_queue_events, run_lanes, run_ready, run_slots, run_rates cascade`;
  await sql`update run_queue_clock set vtimes = default`;
  await sql`delete from kill_at`;
  await sql`insert into kill_at values (${killAt})`;
  await sql`select setval('writes', 1, false)`;
  const server = connect({ uri, socket: null }, { max: 1, name: "killed" });
  let killed = false;
  const send = async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        // what is sent before the client has seen the end of the session fails, too
        if (
          !/terminating connection|CONNECTION_|ECONNRESET|EPIPE/.test(
            `${String(error)} ${(error as { code?: string }).code}`,
          )
        )
          throw error;
        killed = true;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  };
  const run = (customer: string, debounced = false, threadId: string = randomUUID()) =>
    newRun(threadId, {
      createThread: true,
      metadata: JSON.stringify({ customer }),
      kwargs: debounced ? '{"input": {"text": "a"}, "refusable": true}' : '{"refusable": true}',
    });
  const claimed: { run_id: string; thread_id: string; attempt: number }[] = [];
  const claim = async () => claimed.push(...(await send(() => claimRuns(server, me, 8))));
  const finish = (at: number) => {
    const { run_id: runId, thread_id: threadId, attempt } = claimed[at]!;
    return send(() =>
      finishRuns(server, [{ runId, threadId, attempt, outcome: "success", error: null, state: null }], false),
    );
  };
  try {
    const first = [run("a"), run("a"), run("a"), run("b")];
    await send(() => createRuns(server, first, false));
    const debounced = run("c", true);
    await send(() => createRuns(server, [debounced]));
    await send(() => createRuns(server, [run("c", true, debounced.threadId)]));
    await claim();
    await finish(0);
    const { run_id: runId, attempt } = claimed[1]!;
    await send(() => releaseRun(server, { runId, attempt, blame: false, maxFailures: 3, reason: "", notify: false }));
    const refused = await send(() => createRuns(server, [run("a"), run("a"), run("a"), run("a")], false));
    const waiting = first[2]!;
    await send(() => cancelRunRow(server, { ...waiting, action: "interrupt", reason: null }));
    await sql`update run_queue_events set due_at = now() where expires is not null`;
    await claim();
    for (let n = 2; n < claimed.length; n++) await finish(n);
    await claim();
    const running = await sql`select 1 from runs where status = 'running'`;
    const slots = await sql`
      select substr(key, 1, 8) as kind, count(*)::int from run_slots group by 1 order by 1`;
    const waits = await sql`select 1 from runs where status = 'pending' and attempt = 0`;
    const rows = await sql`
      select metadata ->> 'customer' as customer, status, attempt, count(*)::int from runs group by 1, 2, 3 order by 1, 2, 3`;
    const lanes = await sql`select state, count(*)::int from run_lanes group by 1 order by 1`;
    const outcomes = refused.map(({ outcome }) => outcome);
    return { killed, summary: { running: running.length, slots, waits: waits.length, rows, lanes, outcomes } };
  } finally {
    await server.end();
  }
}

test("a session that is killed inside any statement of flow control leaves nothing half-done", async () => {
  const rules = queueSection.parse({
    concurrency: [{ key: "metadata.customer", limit: 2 }],
    throttle: [{ key: "all", limit: 1000, period: 1, burst: 1000 }],
    priority: [{ name: "b", match: { "metadata.customer": "b" } }, { name: "default" }],
    fair: "metadata.customer",
    waiting: [{ key: "metadata.customer", limit: 4 }],
    debounce: { seconds: 1000, longest: 2000 },
    expires_after: 3600,
  });
  await putQueueRules(sql, { echo: rules });
  const undisturbed = await pass(-1);
  expect(undisturbed.killed).toBe(false);
  expect(undisturbed.summary).toMatchObject({ outcomes: expect.arrayContaining(["created", "queue_full"]) });
  const statements = await sql<{ at: string; statement: string }[]>`
    select min(n) as at, statement from written group by statement order by min(n)`;
  expect(statements.length).toBeGreaterThan(20);
  for (const { at, statement } of statements) {
    const { killed, summary } = await pass(Number(at));
    expect([killed, summary], `killed in ${statement}`).toEqual([true, undisturbed.summary]);
  }
}, 120_000);
