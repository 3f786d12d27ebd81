/** Readers of a run whose end was committed although its server did not get the answer. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { readOptions } from "../../base/config/options.ts";
import { connect, type Sql } from "../../base/db/connect.ts";
import { createFaultPoint } from "../../base/fault-point.ts";
import { sseFrame } from "../../base/events/sse.ts";
import { uuid7 } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { insertAssistant } from "../assistants/sql.ts";
import { agentOptions } from "../settings.ts";
import type { ActiveRun } from "./active-run.ts";
import { RunEndings } from "./end-run.ts";
import type { Ended } from "./phase.ts";
import { RunFollower } from "../streams/run-follower.ts";
import { RunStreams } from "../streams/run-streams.ts";
import { StreamKeeper } from "../streams/stream-keeper.ts";
import { createRuns, finishRuns, selectRunState } from "./sql.ts";
import { reserveStream, keepFrames } from "../streams/sql.ts";

const { sql, uri } = await testDatabase();
const log = createLog("silent");
const dataDir = await mkdtemp(join(tmpdir(), "heddle-end-run-"));
const serverId = uuid7();
const streams = new RunStreams({ dataDir, serverId, ttlSecs: 60, memoryMb: 16 });
const executed = new Set<string>();
const keeper = new StreamKeeper({ sql, log, live: undefined, onLost: () => {} });
const follower = new RunFollower({
  sql,
  streams,
  log,
  serverId,
  keeper,
  live: undefined,
  isActive: (runId) => executed.has(runId),
  alone: () => true,
});
const endingsOn = (on: Sql) =>
  new RunEndings({
    sql: on,
    hotSql: on,
    log,
    settings: readOptions(agentOptions, {}),
    streams,
    keeper,
    fault: createFaultPoint(""),
    alone: () => true,
    hosts: () => {
      throw new Error("no host is needed");
    },
  });
const endings = endingsOn(sql);
await sql`insert into servers (server_id, host_name, process) values (${serverId}, 'here', 'null')`;
const assistantId = uuid7();
await insertAssistant(sql, {
  assistant_id: assistantId,
  graph_id: "g",
  name: "g",
  description: null,
  config: {},
  context: {},
  metadata: {},
});

afterAll(async () => {
  await follower.stop();
  await streams.stop();
});

const realNow = performance.now.bind(performance);
const realDate = Date.now.bind(Date);
const STATE = '{"values":{"n":1},"next":[],"interrupts":{}}';

async function claimed(temporary: boolean): Promise<ActiveRun> {
  const run = {
    runId: uuid7(),
    threadId: uuid7(),
    attempt: 1,
    graphId: null,
    kwargs: "{}",
    claimedAt: 0,
    timeout: undefined,
    start: { notify: true },
  };
  await createRuns(sql, [
    {
      ...run,
      assistantId,
      kwargs: "{}",
      metadata: "{}",
      strategy: "enqueue",
      createThread: true,
      afterSeconds: 0,
      temporary,
      describe: false,
      serverId,
      claim: true,
    },
  ]);
  executed.add(run.runId);
  streams.open(run.runId);
  return run as unknown as ActiveRun;
}

/** Writes a run's end and tells its readers, as the queue does. */
async function finish(run: ActiveRun, end: Ended, result?: Buffer, on = endings): Promise<void> {
  const event = await on.finish(run, end, result);
  if (event.is === "stored") on.conclude(run, event);
}

/** Writes the end as a server does whose answer is lost. */
const write = (run: ActiveRun, outcome: "success" | "cancelled") =>
  finishRuns(
    sql,
    [{ runId: run.runId, threadId: run.threadId, attempt: 1, outcome, error: null, state: STATE }],
    false,
  );

test("a temporary run keeps its result when the answer to its commit was lost", async () => {
  const run = await claimed(true);
  expect(await write(run, "success")).toEqual([{ outcome: "success", waiting: false }]);
  await finish(run, { outcome: "success" }, Buffer.from(STATE));
  expect(streams.get(run.runId)?.outcome).toEqual({ status: "success", output: '{"n":1}' });
});

test("a rolled back run ends as deleted, however often its end is written", async () => {
  const run = await claimed(false);
  await sql`update runs set cancel_action = 'rollback' where run_id = ${run.runId}`;
  expect(await write(run, "cancelled")).toEqual([{ outcome: "deleted", waiting: false }]);
  await finish(run, { outcome: "cancelled" });
  expect(streams.get(run.runId)?.outcome?.status).toBe("deleted");
});

test("following a run by its rows leaves the end of a locally executed run to its execution", async () => {
  const [here, elsewhere] = [await claimed(true), await claimed(true)];
  executed.delete(elsewhere.runId);
  for (const run of [here, elsewhere]) {
    follower.follow(run.runId);
    await write(run, "success");
  }
  while (!streams.get(elsewhere.runId)?.outcome) await sleep(20);
  expect(streams.get(here.runId)?.outcome).toBeUndefined();
});

test("the result of a temporary run that another server executed comes from its stored frames", async () => {
  const run = await claimed(true);
  executed.delete(run.runId);
  follower.follow(run.runId);
  await write(run, "success");
  // the announcement of a reader may arrive after the run has been deleted
  await reserveStream(sql, run.runId);
  await sleep(1000);
  expect(streams.get(run.runId)?.outcome).toBeUndefined();
  const frames = sseFrame(0, "values", '{"n":1}').toString();
  const segment = { runId: run.runId, threadId: run.threadId, attempt: 1, first: 0, count: 1 };
  await keepFrames(sql, [{ ...segment, frames, status: "success", marks: null, notify: false }]);
  await expect.poll(() => streams.get(run.runId)?.outcome?.status).toBe("success");
  expect(String(streams.get(run.runId)!.outcome!.output)).toBe('{"n":1}');
});

test("writes an end however long the database is unavailable", async () => {
  const proxy = await FaultProxy.before(uri);
  const unreachable = connect({ uri: proxy.through(uri), socket: null }, { max: 2 });
  await unreachable`select 1`;
  const run = await claimed(false);
  const up = proxy.refuse();
  const ended = finish(run, { outcome: "success" }, Buffer.from(STATE), endingsOn(unreachable));
  await sleep(500);
  // an hour passes
  vi.stubGlobal("performance", { now: () => realNow() + 3_600_000 });
  const dates = vi.spyOn(Date, "now").mockImplementation(() => realDate() + 3_600_000);
  await sleep(1000);
  vi.unstubAllGlobals();
  dates.mockRestore();
  up();
  await ended;
  expect((await selectRunState(sql, run.threadId, run.runId))?.status).toBe("success");
  await unreachable.end({ timeout: 1 });
  await proxy.stop();
});

test("a run whose end the database rejects ends as error", async () => {
  const run = await claimed(false);
  await sql.unsafe(`
    create function reject() returns trigger language plpgsql as $$ begin raise 'too much'; end $$;
    create trigger reject before update on runs for each row when (new.status = 'success') execute function reject()`);
  await finish(run, { outcome: "success" }, Buffer.from(STATE));
  await sql`drop trigger reject on runs`;
  const row = await selectRunState(sql, run.threadId, run.runId);
  expect(row?.status).toBe("error");
  expect(JSON.parse(row!.error!)).toMatchObject({ error: "ResultNotStored" });
});
