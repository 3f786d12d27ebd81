/** Runs of a whole server with real hosts and a database behind a proxy that loses responses and connections. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { uuid7 } from "../../base/ids.ts";
import { claimRuns, finishRuns } from "./sql.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));
const db = await testDatabase();
const { sql } = db;
const proxy = await FaultProxy.before(db.uri);
const env = { HEDDLE_RUN_TIMEOUT_SECS: "15", HEDDLE_LEASE_MS: "6000", HEDDLE_JOBS: "3", HEDDLE_LOG_LEVEL: "silent" };
const server = await testAgentServer(env, PROJECT, { db: { ...db, uri: proxy.through(db.uri), options: {} } });
afterAll(async () => {
  await server.stop();
  await proxy.stop();
});

const { call } = server;

const newThread = async () => (await call("POST", "/threads", {})).json.thread_id as string;
const body = (ms: number, more: object = {}) => ({ assistant_id: "good", input: { ms }, ...more });

async function background(ms: number, more: object = {}) {
  const threadId = await newThread();
  const { status, json } = await call("POST", `/threads/${threadId}/runs`, body(ms, more));
  expect(status).toBe(200);
  return { threadId, runId: json.run_id as string };
}

const row = async (runId: string) =>
  (
    await sql<{ status: string; attempt: number; failures: number }[]>`
      select status, attempt, failures from runs where run_id = ${runId}`
  )[0];
const runStatus = async (runId: string) => (await row(runId))?.status;

// statements that start a run take half a second to commit while `slowly` has a row
await sql`create table slowly (yes boolean)`;
await sql.unsafe(`
  create function start_slowly() returns trigger language plpgsql as $$
  begin
    if exists (select 1 from slowly) then perform pg_sleep(0.5); end if;
    return null;
  end $$;
  create trigger start_slowly after insert or update of status on runs
    for each row when (new.status in ('pending', 'running')) execute function start_slowly();`);

const slowDown = () => sql`insert into slowly values (true)`;

/**
 * Loses the answer to the statement that accepts or starts the next run; `then` runs between its commit and the loss.
 */
async function loseStart(then: () => Promise<unknown> = () => sleep(50)): Promise<void> {
  const starting = () => sql`select 1 from pg_stat_activity where wait_event = 'PgSleep'`;
  await expect.poll(async () => (await starting()).length, { timeout: 6000, interval: 10 }).toBe(1);
  const loseAnswers = proxy.holdAnswers();
  await sql`delete from slowly`;
  await expect.poll(async () => (await starting()).length, { timeout: 6000, interval: 10 }).toBe(0);
  await then();
  loseAnswers();
}

test("starts a run whose claim was committed but not answered", async () => {
  // a first run, to wait for the hosts
  const warm = await background(0);
  await expect.poll(() => runStatus(warm.runId)).toBe("success");
  const { runId } = await background(0, { after_seconds: 1 });
  await slowDown();
  await loseStart();
  expect(await runStatus(runId)).toBe("running");
  await expect.poll(() => runStatus(runId), { timeout: 10_000 }).toBe("success");
  expect((await row(runId))!.failures).toBe(0);
});

test("starts a run whose creation was committed but not answered, and returns its result to the caller", async () => {
  const threadId = await newThread();
  await slowDown();
  const lost = loseStart();
  const answer = call("POST", `/threads/${threadId}/runs/wait`, body(0));
  await lost;
  expect(await answer).toMatchObject({ status: 200, json: { done: ["only"] } });
  expect((await sql`select 1 from runs where thread_id = ${threadId}`).length).toBe(1);
});

test("does not repeat a stateless run executed elsewhere when the answer to its creation was lost", async () => {
  const busy = await Promise.all([1, 2, 3].map(() => background(12_000)));
  for (const { runId } of busy) await expect.poll(() => runStatus(runId)).toBe("running");
  const worker = uuid7();
  await sql`insert into servers (server_id, host_name, process, graphs) values (${worker}, 'elsewhere', 'null', '{good}')`;
  await slowDown();
  const lost = loseStart(async () => {
    const [run] = await claimRuns(sql, worker, 1);
    const ended = { outcome: "success", error: null, state: null } as const;
    const { run_id: runId, thread_id: threadId, attempt } = run!;
    await finishRuns(sql, [{ runId, threadId, attempt, ...ended }], false);
  });
  const answer = call("POST", "/runs/wait", body(0));
  await lost;
  expect((await answer).status).toBe(503);
  expect(await sql`select 1 from runs where temporary`).toEqual([]);
  for (const run of busy) await call("POST", `/threads/${run.threadId}/runs/${run.runId}/cancel?wait=true`, {});
});

test("a cancellation without a notification takes effect within two seconds", async () => {
  const { runId } = await background(15_000);
  await expect.poll(() => runStatus(runId)).toBe("running");
  await sql`update runs set cancel_action = 'interrupt' where run_id = ${runId}`;
  await expect.poll(() => runStatus(runId), { timeout: 2500, interval: 50 }).toBe("interrupted");
});

test("cancelling a run that waits for a host ends it at once", async () => {
  // two last attempts each run alone: the second one waits for a host to start
  const both = [await background(4000, { after_seconds: 1 }), await background(12_000, { after_seconds: 1 })] as const;
  await sql`update runs set failures = 2 where run_id in ${sql(both.map(({ runId }) => runId))}`;
  const [first, second] = both;
  await expect.poll(() => runStatus(second.runId), { interval: 10 }).toBe("running");
  const startedAt = performance.now();
  await call("POST", `/threads/${second.threadId}/runs/${second.runId}/cancel?wait=true`, {});
  expect(await runStatus(second.runId)).toBe("interrupted");
  expect(performance.now() - startedAt).toBeLessThan(2500);
  await call("POST", `/threads/${first.threadId}/runs/${first.runId}/cancel?wait=true`, {});
});

test("a run survives all connections going silent at once, and its timeout survives an outage", async () => {
  const endless = await background(60_000);
  const { runId } = await background(2000);
  await expect.poll(() => runStatus(runId)).toBe("running");
  await expect.poll(() => runStatus(endless.runId)).toBe("running");
  const startedAt = performance.now();
  proxy.silence();
  await expect.poll(() => runStatus(runId), { timeout: 14_000 }).toBe("success");
  expect(await row(runId)).toMatchObject({ attempt: 1, failures: 0 });
  await sleep(Math.max(13_500 - (performance.now() - startedAt), 0));
  const up = proxy.refuse();
  await sleep(3000);
  up();
  await expect.poll(() => runStatus(endless.runId), { timeout: 4000, interval: 50 }).toBe("timeout");
});
