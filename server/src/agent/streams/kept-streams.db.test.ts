/**
 * Frames of resumable runs under failure: servers that die while they write, runs that continue on other servers,
 * readers that are cut off at any byte and resume at any server. All readers get the same bytes.
 */
import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";
import { expect, test } from "vitest";

import { readAll, streamServers } from "../../../test/stream-servers.ts";
import { splitFrames } from "../../base/events/sse.ts";
import { createLog } from "../../base/log.ts";
import { deleteServer } from "../servers/sql.ts";
import { joinStream } from "../runs/read-run.ts";
import { reserveStream, deleteThreadStreams, type KeepOutcome, keepFrames, selectKeptStream } from "./sql.ts";
import { StreamSweeper } from "./stream-sweeper.ts";

const servers = await streamServers();
const { db } = servers;
const log = createLog("silent");

type Step = { do: "append"; sizes: number[] } | { do: "die" } | { do: "wait"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      sizes: fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("die" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 15 }) }) },
);
const cuts = fc.array(fc.array(fc.integer({ min: 1, max: 6000 }), { maxLength: 8 }), { minLength: 1, maxLength: 4 });

test(
  "all readers of a resumable run receive the same frames, wherever they were cut and whichever servers died",
  { timeout: 60_000 },
  async () => {
    const bystander = await servers.start();
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      cuts,
      fc.nat(),
      async (steps, cutPoints, seed) => {
        let owner = await servers.start();
        const run = await servers.newRun(owner);
        let attempt = 1;
        await owner.execute(run.runId, run.threadId, attempt);
        let turn = seed;
        const readers = cutPoints.map((own) => readAll(run, own, () => [owner, bystander][turn++ % 2]!));
        for (const step of steps) {
          if (step.do === "wait") await sleep(step.ms);
          else if (step.do === "append") {
            for (const size of step.sizes) {
              owner.streams
                .get(run.runId)!
                .append("values", JSON.stringify({ text: "ä\u0000\n€".repeat(size / 4), size }));
            }
          } else {
            const before = owner;
            before.die();
            await deleteServer(db.sql, before.id);
            owner = await servers.start();
            attempt += 1;
            await db.sql`update runs set server_id = ${owner.id}, attempt = ${attempt} where run_id = ${run.runId}`;
            await owner.execute(run.runId, run.threadId, attempt);
          }
        }
        await db.sql`update runs set status = 'success', ended_at = now() where run_id = ${run.runId}`;
        owner.executes.delete(run.runId);
        owner.streams.end(run.runId, { status: "success", output: "null" });
        const texts = await Promise.all(readers);
        await expect
          .poll(async () => (await selectKeptStream(db.sql, run.runId))?.status, { timeout: 30_000 })
          .toBe("success");
        const replay = await readAll(run, [], () => bystander);
        const ids = splitFrames(replay).map(({ frame }) => /\nid: (\d+)\n/.exec(frame.toString())![1]);
        expect(ids).toEqual(ids.map((_, i) => String(i)));
        for (const text of texts) expect(text.equals(replay)).toBe(true);
        await owner.stop();
      },
    );
    await fc.assert(property, { numRuns: 15, endOnFailure: true });
  },
);

test("a server wrongly taken for dead writes nothing between the frames of its successor", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  const stream = first.streams.get(run.runId)!;
  await expect.poll(() => stream.log.count).toBe(1);
  await db.sql`update runs set server_id = ${second.id}, attempt = 2 where run_id = ${run.runId}`;
  await second.execute(run.runId, run.threadId, 2);
  stream.emit(1, "values", '"too late"');
  await expect.poll(() => stream.keeping).toBeUndefined();
  // its graph host continues until the server learns that it lost the run
  stream.emit(1, "values", '"too late as well"');
  expect(stream.log.count).toBe(1);
  first.executes.clear();
  second.streams.get(run.runId)!.append("values", '"in time"');
  // its own readers continue with the frames of its successor
  await expect.poll(() => stream.log.count).toBe(3);
  const [row] = await db.sql<{ text: string }[]>`
    select string_agg(frames, '' order by first) as text from run_stream_segments where run_id = ${run.runId}`;
  expect(row!.text).not.toContain("too late");
  expect(row!.text.match(/\nid: (\d+)/g)).toEqual(["\nid: 0", "\nid: 1", "\nid: 2"]);
});

test("a reader's request for the stream of a deleted run leaves no row", async () => {
  const server = await servers.start();
  const { runId, threadId } = await servers.newRun(server);
  let requested: Promise<void> | undefined;
  await db.sql.begin(async (deleting) => {
    await deleting`delete from runs where run_id = ${runId}`;
    requested = reserveStream(server.sql, runId);
    await expect
      .poll(async () => await db.sql`select 1 from pg_locks where not granted and locktype = 'transactionid'`)
      .toHaveLength(1);
  });
  await requested;
  await deleteThreadStreams(db.sql, threadId);
  expect(await selectKeptStream(db.sql, runId)).toBeUndefined();
});

test("stores a stream that a remote reader requests while its first frames are written", async () => {
  const server = await servers.start();
  const { runId, threadId } = await servers.newRun(server);
  const frames = { runId, threadId, attempt: 1, first: 0, count: 1, frames: "id: 0\n\n", marks: null, notify: false };
  let stored: Promise<KeepOutcome[]> | undefined;
  await db.sql.begin(async (asking) => {
    await asking`insert into run_streams (run_id, thread_id) values (${runId}, ${threadId})`;
    stored = keepFrames(server.sql, [{ ...frames, status: null }]);
    // it waits for this transaction
    await expect
      .poll(async () => await db.sql`select 1 from pg_locks where not granted and locktype = 'transactionid'`)
      .toHaveLength(1);
  });
  expect(await stored).toMatchObject([{ outcome: "stored", stored: 1 }]);
  expect(await selectKeptStream(db.sql, runId)).toMatchObject({ frames: 1, attempt: 1 });
});

test("a reader that reaches the successor before the stored frames do receives none twice", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  for (const n of [1, 2, 3, 4]) first.streams.get(run.runId)!.append("values", String(n));
  await expect.poll(async () => (await selectKeptStream(db.sql, run.runId))?.frames).toBe(5);
  first.die();
  await db.sql`update runs set server_id = ${second.id}, attempt = 2 where run_id = ${run.runId}`;
  // it has claimed the run, but not yet read what its predecessor kept
  second.executes.add(run.runId);
  second.streams.open(run.runId);
  const read = async () => {
    const response = await joinStream(second.deps, run.threadId, run.runId, { lastEventId: "3" });
    return response.text();
  };
  const reading = read();
  await sleep(50);
  await second.execute(run.runId, run.threadId, 2);
  await db.sql`update runs set status = 'success', ended_at = now() where run_id = ${run.runId}`;
  second.executes.clear();
  second.streams.end(run.runId, { status: "success", output: "null" });
  expect((await reading).match(/(?<=\nid: )\d+/g)).toEqual(["4", "5"]);
});

test("a remote reader makes a run that is not resumable store its stream from the first frame", async () => {
  const [here, there] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(here);
  await here.execute(run.runId, run.threadId, 1, false);
  here.streams.get(run.runId)!.append("values", '{"n":1}');
  await sleep(50);
  expect(await selectKeptStream(db.sql, run.runId)).toBeUndefined();
  const reading = readAll(run, [], () => there);
  await expect.poll(() => there.streams.get(run.runId)?.log.count).toBe(2);
  here.streams.get(run.runId)!.append("values", '{"n":2}');
  await db.sql`update runs set status = 'success', ended_at = now() where run_id = ${run.runId}`;
  here.executes.clear();
  here.streams.end(run.runId, { status: "success", output: '{"n":2}' });
  expect(splitFrames(await reading).map(({ name }) => name)).toEqual(["metadata", "values", "values"]);
  expect(there.streams.get(run.runId)!.outcome!.output.toString()).toBe('{"n":2}');
});

test("deletes stored frames after their time to live, and ends a stream whose writer died", async () => {
  const server = await servers.start();
  const run = await servers.newRun(server);
  await server.execute(run.runId, run.threadId, 1);
  await expect.poll(() => server.streams.get(run.runId)!.log.count).toBe(1);
  server.die();
  const error = '{"error":"Boo","message":"boo"}';
  await db.sql`update runs set status = 'error', error = ${error}::text::jsonb, ended_at = now() - interval '1 minute' where run_id = ${run.runId}`;
  await db.sql`update run_streams set created_at = now() - interval '1 hour' where run_id = ${run.runId}`;
  const other = await servers.start();
  const sweeper = new StreamSweeper(other.sql, log, 60);
  await sweeper.sweep();
  expect(await selectKeptStream(db.sql, run.runId)).toMatchObject({ status: "error", frames: 3 });
  expect((await readAll(run, [], () => other)).toString()).toContain('event: error\ndata: {"error": "Boo"');
  await db.sql`update run_streams set ended_at = now() - interval '61 seconds' where run_id = ${run.runId}`;
  await sweeper.sweep();
  expect(await selectKeptStream(db.sql, run.runId)).toBeUndefined();
  expect(await db.sql`select 1 from run_stream_segments where run_id = ${run.runId}`).toHaveLength(0);
});

test("rebuilds the last frames of a run whose server died at its end from the run's state", async () => {
  const server = await servers.start();
  const run = await servers.newRun(server);
  await server.execute(run.runId, run.threadId, 1);
  server.streams.get(run.runId)!.append("values", '{"n":1}');
  await expect.poll(() => server.streams.get(run.runId)!.log.count).toBe(2);
  const [reader, other] = [await servers.start(), await servers.start()];
  const reading = [readAll(run, [], () => reader), readAll(run, [], () => other)];
  server.die();
  await db.sql`update threads set values = '{"n":2}' where thread_id = ${run.threadId}`;
  await db.sql`update runs set status = 'success', ended_at = now() where run_id = ${run.runId}`;
  await deleteServer(db.sql, server.id);
  const [first, two] = await Promise.all(reading);
  expect(first!.equals(two!)).toBe(true);
  expect(splitFrames(first!).map(({ name }) => name)).toEqual(["metadata", "values", "incomplete", "values"]);
  expect(first!.toString()).toContain('event: values\ndata: {"n": 2}\nid: 3\n');
  const [row] = await db.sql<{ run: { stream_incomplete: string } }[]>`
    select run_wire(r) as run from runs r where run_id = ${run.runId}`;
  expect(row!.run.stream_incomplete).toMatch(/lost before it stored all frames/);
  expect(await selectKeptStream(db.sql, run.runId)).toMatchObject({ status: "success", frames: 4 });
});
