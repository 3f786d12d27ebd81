/**
 * Kills the database session inside every statement of flow control that writes, one kill for each pass through
 * the same calls, which are sent again as servers do. What the tables say at the end must not depend on the kill.
 */
import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { connect, type Sql } from "../../base/db/connect.ts";
import { queueSection } from "../project/queue-config.ts";
import { cancelRunRow, type ClaimedRun, claimRuns, createRuns, finishRuns, putQueueRules, releaseRun } from "./sql.ts";

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

interface Caller {
  /** Sends a call on the session that is killed, again when it was. */
  send: <T>(call: (server: Sql) => Promise<T>) => Promise<T>;
  /** Claims runs. @returns all that were claimed so far */
  claim: () => Promise<ClaimedRun[]>;
  finish: (run: Pick<ClaimedRun, "run_id" | "thread_id" | "attempt">) => Promise<unknown>;
}

/**
 * Makes a scenario's calls with a kill at a write; -1: none, but the writes are listed. Returns the final tables, without
 * ids.
 */
async function pass(
  killAt: number,
  scenario: (caller: Caller) => Promise<object>,
): Promise<{ killed: boolean; summary: unknown }> {
  await sql`truncate runs, threads, run_queue_events, run_lanes, run_ready, run_slots, run_rates cascade`;
  await sql`update run_queue_clock set vtimes = default`;
  await sql`delete from kill_at`;
  await sql`insert into kill_at values (${killAt})`;
  await sql`select setval('writes', 1, false)`;
  const server = connect({ uri, socket: null }, { max: 1, name: "killed" });
  let killed = false;
  const send: Caller["send"] = async (call) => {
    for (;;) {
      try {
        return await call(server);
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
  const claimed: ClaimedRun[] = [];
  const claim = async () => {
    claimed.push(...(await send((on) => claimRuns(on, me, 8))));
    return claimed;
  };
  const finish: Caller["finish"] = ({ run_id: runId, thread_id: threadId, attempt }) =>
    send((on) => finishRuns(on, [{ runId, threadId, attempt, outcome: "success", error: null, state: null }], false));
  try {
    const result = await scenario({ send, claim, finish });
    const running = await sql`select 1 from runs where status = 'running'`;
    const slots = await sql`
      select substr(key, 1, 8) as kind, count(*)::int from run_slots group by 1 order by 1`;
    const waits = await sql`select 1 from runs where status = 'pending' and attempt = 0`;
    const rows = await sql`
      select metadata, status, attempt, count(*)::int from runs group by 1, 2, 3 order by 1, 2, 3`;
    const lanes = await sql`select state, passed, count(*)::int from run_lanes group by 1, 2 order by 1, 2`;
    return { killed, summary: { running: running.length, slots, waits: waits.length, rows, lanes, ...result } };
  } finally {
    await server.end();
  }
}

const runOf = (metadata: object, debounced = false, threadId: string = randomUUID()) =>
  newRun(threadId, {
    createThread: true,
    metadata: JSON.stringify(metadata),
    kwargs: debounced ? '{"input": {"text": "a"}, "refusable": true}' : '{"refusable": true}',
  });

/** Creates, claims, ends, returns, cancels, replaces and expires runs. */
async function everyCall({ send, claim, finish }: Caller): Promise<object> {
  const run = (customer: string, debounced = false, threadId?: string) => runOf({ customer }, debounced, threadId);
  const first = [run("a"), run("a"), run("a"), run("b")];
  await send((on) => createRuns(on, first, false));
  const debounced = run("c", true);
  await send((on) => createRuns(on, [debounced]));
  await send((on) => createRuns(on, [run("c", true, debounced.threadId)]));
  const [begun, { run_id: runId, attempt }] = (await claim()) as [ClaimedRun, ClaimedRun];
  await finish(begun);
  await send((on) => releaseRun(on, { runId, attempt, blame: false, maxFailures: 3, reason: "", notify: false }));
  const refused = await send((on) => createRuns(on, [run("a"), run("a"), run("a"), run("a")], false));
  const waiting = first[2]!;
  await send((on) => cancelRunRow(on, { ...waiting, action: "interrupt", reason: null }));
  await sql`update run_queue_events set due_at = now() where expires is not null`;
  for (const each of (await claim()).slice(2)) await finish(each);
  await claim();
  return { outcomes: refused.map(({ outcome }) => outcome) };
}

/** A run with two keys is passed over until it holds one of them, is cancelled, and another one begins. */
async function heldKeys({ send, claim, finish }: Caller): Promise<object> {
  const create = async (keys: object) => {
    const run = runOf(keys);
    await send((on) => createRuns(on, [run], false));
    return run;
  };
  let seen = 0;
  const take = async () => {
    const all = await claim();
    return all.slice(seen, (seen = all.length));
  };
  const holds: number[] = [];
  const begins: boolean[] = [];
  await create({ a: "1" });
  await create({ b: "1" });
  const [a, b] = await take();
  const running = { a, b };
  for (const isCancelled of [true, false]) {
    const both = await create({ a: "1", b: "1" });
    expect(await take()).toEqual([]);
    let begun: ClaimedRun | undefined;
    for (let turn = 0; turn < 12 && !begun && !(isCancelled && holds.at(-1)); turn++) {
      const key = turn % 2 ? "b" : "a";
      await create({ [key]: "1" });
      if (running[key]) await finish(running[key]);
      const taken = await take();
      begun = taken.find(({ run_id: id }) => id === both.runId);
      running[key] = taken[0];
      const [held] = await sql<{ n: number }[]>`
        select count(*)::int as n from run_slots s where not exists (select 1 from runs r where r.run_id = s.run_id)`;
      holds.push(held!.n);
    }
    if (isCancelled) {
      await send((on) => cancelRunRow(on, { ...both, action: "interrupt", reason: null }));
      // the key that it held is free for the run that waits for it
      const [next] = await take();
      running[running.a ? "b" : "a"] = next;
    }
    begins.push(begun !== undefined);
  }
  return { holds, begins };
}

/**
 * Kills the session in each statement that the scenario makes write, one in each pass.
 *
 * @returns the undisturbed summary
 */
async function expectNothingHalfDone(scenario: (caller: Caller) => Promise<object>): Promise<unknown> {
  await sql`delete from written`;
  const undisturbed = await pass(-1, scenario);
  expect(undisturbed.killed).toBe(false);
  const statements = await sql<{ at: string; statement: string }[]>`
    select min(n) as at, statement from written group by statement order by min(n)`;
  expect(statements.length).toBeGreaterThan(20);
  for (const { at, statement } of statements) {
    const { killed, summary } = await pass(Number(at), scenario);
    expect([killed, summary], `killed in ${statement}`).toEqual([true, undisturbed.summary]);
  }
  return undisturbed.summary;
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
  expect(await expectNothingHalfDone(everyCall)).toMatchObject({
    outcomes: expect.arrayContaining(["created", "queue_full"]),
  });
}, 120_000);

test("a session that is killed while a run holds keys leaves nothing half-done", async () => {
  const concurrency = [
    { key: "metadata.a", limit: 1 },
    { key: "metadata.b", limit: 1 },
  ];
  await putQueueRules(sql, { echo: queueSection.parse({ concurrency, fair: null }) });
  const { holds, begins } = (await expectNothingHalfDone(heldKeys)) as { holds: number[]; begins: boolean[] };
  expect(begins).toEqual([false, true]);
  expect(Math.max(...holds)).toBe(1);
  const [named] = await sql<{ n: number }[]>`
    select count(*)::int as n from written where statement like '%reserve_keys%'`;
  expect(named!.n).toBeGreaterThan(0);
}, 120_000);
