import { randomUUID } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { FencedError } from "./errors.ts";
import { readTriggers } from "./final-step.ts";
import { HeddleSaver } from "./heddle-saver.ts";
import { twoStepGraph } from "./test/graphs.ts";

const db = await testDatabase();
const statements: string[] = [];
const database = new CheckpointDatabase(db.uri, {
  socket: db.options.host,
  // a busy machine takes longer than 10 ms from a run's last step to its end
  lazyMs: 5000,
  onStatement: (text) => statements.push(text),
});
afterAll(() => database.close());

const STATE = JSON.stringify({ values: { log: ["x"] }, next: [], interrupts: {} });
const config = (threadId: string) => ({ configurable: { thread_id: threadId }, durability: "sync" as const });

async function startRun(
  temporary = false,
  threadId: string = randomUUID(),
): Promise<{ runId: string; threadId: string }> {
  const runId = randomUUID();
  await db.sql`
    insert into threads (thread_id, status, running_run_id) values (${threadId}, 'busy', ${runId})
    on conflict (thread_id) do update set status = 'busy', running_run_id = excluded.running_run_id`;
  await db.sql`
    insert into runs (run_id, thread_id, assistant_id, status, attempt, temporary)
    values (${runId}, ${threadId}, ${randomUUID()}, 'running', 1, ${String(temporary)}::text::boolean)`;
  return { runId, threadId };
}

/** Runs the two-step graph as a run does, up to its end, which remains to be written. */
async function runGraph({ runId, threadId }: { runId: string; threadId: string }, on = database, head?: string) {
  const known = head === undefined ? { freshThread: threadId } : { head: { threadId, id: head } };
  const options = { fence: { runId, attempt: 1 }, passiveStart: true, ...known };
  const triggers = readTriggers(twoStepGraph(new HeddleSaver(on), (node) => Promise.resolve(node)));
  const saver = new HeddleSaver(on, { ...options, triggers });
  await twoStepGraph(saver, (node) => Promise.resolve(node)).invoke({ last: "go" }, config(threadId));
  return saver;
}

async function countRows(runId: string, threadId: string) {
  const [row] = await db.sql`
    select (select count(*)::int from checkpoints where thread_id = ${threadId}) as checkpoints,
           (select status from runs where run_id = ${runId}) as run,
           (select jsonb_build_object('status', status, 'values', values, 'running', running_run_id)
            from threads where thread_id = ${threadId}) as thread`;
  return row!;
}

test("writes the last step and the final status in one statement, after the previous step is stored", async () => {
  const run = await startRun();
  statements.length = 0;
  const saver = await runGraph(run);
  const before = statements.length;
  expect((await countRows(run.runId, run.threadId))["checkpoints"]).toBe(3);
  expect(await saver.finish(run.threadId, STATE, false)).toEqual({ outcome: "success", waiting: false });
  expect(statements.length - before).toBe(1);
  expect(await countRows(run.runId, run.threadId)).toEqual({
    checkpoints: 4,
    run: "success",
    thread: { status: "idle", values: { log: ["x"] }, running: null },
  });
});

/** Executes two runs of one thread, and reads the thread's state from the database alone. */
async function runTwice(readHead: (threadId: string) => Promise<string>) {
  const first = await startRun();
  await (await runGraph(first)).finish(first.threadId, STATE, false);
  const head = await readHead(first.threadId);
  const second = await startRun(false, first.threadId);
  statements.length = 0;
  const saver = await runGraph(second, database, head);
  const reads = statements.filter((text) => text.includes("union all")).length;
  await saver.finish(second.threadId, STATE, false);
  const graph = twoStepGraph(new HeddleSaver(database), () => "");
  const states = [];
  for await (const { values, metadata } of graph.getStateHistory(config(first.threadId)))
    states.push({ log: (values as { log: string[] }).log, step: metadata?.step });
  return { reads, states };
}

const newest = async (threadId: string): Promise<string> =>
  (await db.sql`select max(checkpoint_id) as id from checkpoints where thread_id = ${threadId}`)[0]!["id"] as string;

test("the next run of a thread starts from the cached head, with the same result as from a read", async () => {
  const unread = await runTwice(newest);
  expect(unread.reads).toBe(0);
  const read = await runTwice(async () => randomUUID());
  expect(read.reads).toBe(1);
  expect(unread.states).toEqual(read.states);
  expect(unread.states[0]).toEqual({ log: ["first first", "second second", "first first", "second second"], step: 6 });
});

test("reads a thread that has continued elsewhere", async () => {
  const { reads } = await runTwice(async (threadId) => {
    const elsewhere = new CheckpointDatabase(db.uri, { socket: db.options.host });
    const run = await startRun(false, threadId);
    await (await runGraph(run, elsewhere, "unknown")).finish(threadId, STATE, false);
    await elsewhere.close();
    return newest(threadId);
  });
  expect(reads).toBe(1);
});

test("ends a run with its whole state if the thread's lists are not those that the state continues", async () => {
  const run = await startRun();
  const saver = await runGraph(run);
  const end = { next: [], interrupts: {}, of: "c2" };
  const state = JSON.stringify({ lists: { log: { keep: 1, items: ["b"] } }, base: "c1", values: {}, ...end });
  const whole = () => JSON.stringify({ lists: { log: { keep: 0, items: ["a", "b"] } }, values: { n: 1 }, ...end });
  statements.length = 0;
  expect(await saver.finish(run.threadId, state, false, { whole })).toEqual({ outcome: "success", waiting: false });
  expect(statements.length).toBe(2);
  expect(await countRows(run.runId, run.threadId)).toMatchObject({
    checkpoints: 4,
    run: "success",
    thread: { status: "idle", values: { n: 1 }, running: null },
  });
  const items = await db.sql`
    select position, item from thread_value_items where thread_id = ${run.threadId} order by position`;
  expect([...items]).toEqual([
    { position: 0, item: "a" },
    { position: 1, item: "b" },
  ]);
});

test("stores the last checkpoint without an end, too", async () => {
  const run = await startRun();
  await (await runGraph(run)).flush();
  expect(await countRows(run.runId, run.threadId)).toMatchObject({ checkpoints: 4, run: "running" });
});

test("an attempt that was taken over ends nothing and writes nothing", async () => {
  const run = await startRun();
  const saver = await runGraph(run);
  await db.sql`update runs set attempt = 2 where run_id = ${run.runId}`;
  const before = await countRows(run.runId, run.threadId);
  await expect(saver.finish(run.threadId, STATE, false)).rejects.toThrow(FencedError);
  expect(await countRows(run.runId, run.threadId)).toEqual(before);
});

test("a run with a pending rollback leaves nothing, not even what the same statement wrote", async () => {
  const run = await startRun();
  const saver = await runGraph(run);
  await db.sql`update runs set cancel_action = 'rollback' where run_id = ${run.runId}`;
  expect(await saver.finish(run.threadId, STATE, false)).toMatchObject({ outcome: "deleted" });
  expect(await countRows(run.runId, run.threadId)).toMatchObject({
    checkpoints: 0,
    run: null,
    thread: { running: null },
  });
});

test("deletes a temporary thread with its run and with what the same statement wrote", async () => {
  const run = await startRun(true);
  const saver = await runGraph(run);
  expect(await saver.finish(run.threadId, STATE, false)).toMatchObject({ outcome: "success" });
  expect(await countRows(run.runId, run.threadId)).toEqual({ checkpoints: 0, run: null, thread: null });
});

test("runs that end at the same time share a statement, and one that was taken over does not affect the others", async () => {
  const runs = await Promise.all(Array.from({ length: 20 }, () => startRun()));
  const savers = await Promise.all(runs.map((run) => runGraph(run)));
  await db.sql`update runs set attempt = 2 where run_id = ${runs[7]!.runId}`;
  statements.length = 0;
  const ends = await Promise.allSettled(savers.map((saver, i) => saver.finish(runs[i]!.threadId, STATE, false)));
  // items that arrive during a statement share the next; a busy machine takes a few turns for twenty
  expect(statements.length).toBeLessThanOrEqual(6);
  expect(ends.map((end) => end.status)).toEqual(runs.map((_, i) => (i === 7 ? "rejected" : "fulfilled")));
  for (const [i, run] of runs.entries())
    expect(await countRows(run.runId, run.threadId)).toMatchObject(
      i === 7 ? { run: "running", checkpoints: 3 } : { run: "success", checkpoints: 4 },
    );
});

test("an end that waits for a concurrent cancellation applies it", async () => {
  const run = await startRun();
  const saver = await runGraph(run);
  let finishing: Promise<unknown> | undefined;
  await db.sql.begin(async (sql) => {
    await sql`select 1 from threads where thread_id = ${run.threadId} for update`;
    finishing = saver.finish(run.threadId, STATE, false);
    const answer = await Promise.race([finishing, new Promise((resolve) => setTimeout(resolve, 200, "waits"))]);
    expect(answer).toBe("waits");
    // the canceller locks the thread before the run, and must not deadlock with the end's locks
    await sql`update runs set cancel_action = 'rollback' where run_id = ${run.runId}`;
  });
  expect(await finishing).toMatchObject({ outcome: "deleted" });
});

/** Forwards everything; once `cut` is called, swallows the next answer and resets the connection. */
async function answerEater(to: URL): Promise<{ uri: string; cut(): void; server: Server }> {
  let armed = false;
  const server = createServer((client: Socket) => {
    const upstream = connect(Number(to.port), to.hostname);
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      if (!armed) return void client.write(chunk);
      armed = false;
      client.resetAndDestroy();
      upstream.destroy();
    });
    for (const [first, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      first.on("error", () => other.destroy());
      first.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const uri = new URL(to);
  uri.hostname = "127.0.0.1";
  uri.port = String((server.address() as AddressInfo).port);
  return { uri: uri.href, cut: () => (armed = true), server };
}

test("writes an end once when its answer is lost, and reports the outcome as lost", async () => {
  const eater = await answerEater(new URL(db.uri));
  const shaky = new CheckpointDatabase(eater.uri);
  try {
    // prepare the statement on this connection, so that the next answer is that of its execution
    const first = await startRun();
    await (await runGraph(first, shaky)).finish(first.threadId, STATE, false);
    const run = await startRun();
    const saver = await runGraph(run, shaky);
    eater.cut();
    expect(await saver.finish(run.threadId, STATE, false)).toEqual({ outcome: "lost", waiting: false });
    expect(await countRows(run.runId, run.threadId)).toMatchObject({ checkpoints: 4, run: "success" });
  } finally {
    await shaky.close();
    eater.server.close();
  }
});
