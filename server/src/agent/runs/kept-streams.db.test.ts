/**
 * Frames of resumable runs, whatever happens: servers that die while they write, runs that go on elsewhere, readers
 * that are cut off at any byte and go on at any server. What each of them has read is the same, to the byte.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";
import postgres from "postgres";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { ARRAY_TYPES } from "../../base/db/array-types.ts";
import type { Sql } from "../../base/db/connect.ts";
import { splitFrames } from "../../base/events/sse.ts";
import { uuid7 } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { insertAssistant } from "../assistants/sql.ts";
import { deleteServer, upsertServer } from "../servers/sql.ts";
import { joinStream, type ReaderDeps } from "./read-run.ts";
import { RunFollower } from "./run-follower.ts";
import { RunStreams } from "./run-streams.ts";
import { createRuns } from "./sql.ts";
import { StreamKeeper } from "./stream-keeper.ts";
import { appendFrames, selectKeptStream, takeOverStreams } from "./stream-sql.ts";
import { StreamSweeper } from "./stream-sweeper.ts";

const db = await testDatabase();
const log = createLog("silent");
const dataDir = mkdtempSync(join(tmpdir(), "heddle-kept-"));
const assistantId = uuid7();
await insertAssistant(db.sql, {
  assistant_id: assistantId,
  graph_id: "g",
  name: "g",
  description: null,
  config: {},
  context: {},
  metadata: {},
});
const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** What a server does with streams, without its queue and its hosts. */
class Server {
  readonly id = uuid7();
  readonly sql: Sql;
  readonly streams: RunStreams;
  readonly keeper: StreamKeeper;
  readonly follower: RunFollower;
  readonly deps: ReaderDeps;
  readonly executes = new Set<string>();
  readonly dead: Promise<"dead">;
  #die!: () => void;
  #alive = true;

  constructor() {
    this.dead = new Promise((resolve) => (this.#die = () => resolve("dead")));
    this.sql = postgres(db.uri, { ...db.options, max: 3, onnotice: () => {}, fetch_types: false, types: ARRAY_TYPES });
    this.streams = new RunStreams({ dataDir, serverId: this.id, ttlSecs: 60, memoryMb: 16 });
    this.keeper = new StreamKeeper({
      sql: this.sql,
      log,
      live: undefined,
      onLost: (stream) => void this.follower.follow(stream.runId),
    });
    this.follower = new RunFollower({
      sql: this.sql,
      streams: this.streams,
      log,
      serverId: this.id,
      keeper: this.keeper,
      live: undefined,
      isActive: (runId) => this.executes.has(runId),
      alone: () => false,
    });
    this.deps = {
      sql: this.sql,
      streams: this.streams,
      follower: this.follower,
      queue: { has: (id) => this.executes.has(id) },
    };
    servers.push(this);
  }

  async start(): Promise<this> {
    await upsertServer(this.sql, {
      serverId: this.id,
      hostName: "here",
      process: "null",
      internalUrl: "",
      graphs: ["g"],
    });
    const notice = (runId: string) => this.follower.onNotice(runId);
    await this.sql.listen("heddle_frames", notice);
    await this.sql.listen("heddle_done", notice);
    await this.sql.listen("heddle_want", (ids) => {
      for (const id of ids.split(",")) {
        const stream = this.streams.get(id);
        if (stream && this.executes.has(id)) this.keeper.want(stream);
      }
    });
    return this;
  }

  /** Begins or takes over a run, as the queue does with what it has claimed. */
  async execute(runId: string, threadId: string, attempt: number, held = true): Promise<void> {
    this.executes.add(runId);
    const stream = this.streams.open(runId);
    stream.execution = { threadId, attempt };
    const [kept] = attempt > 1 ? await takeOverStreams(this.sql, [{ runId, attempt }]) : [];
    if (kept) await this.follower.catchUp(stream, kept.frames);
    if (held || kept) this.keeper.keep(stream, { ...stream.execution, stored: kept?.frames ?? 0, held });
    stream.append("metadata", JSON.stringify({ run_id: runId, attempt }));
  }

  /** As kill -9 does: what is under way may be written or not. */
  die(): void {
    this.#alive = false;
    this.#die();
    void this.keeper.stop();
    this.follower.stop();
    void this.sql.end({ timeout: 0 }).catch(() => {});
  }

  async stop(): Promise<void> {
    if (this.#alive) this.die();
    await this.streams.stop();
  }
}

async function newRun(server: Server, temporary = false): Promise<{ runId: string; threadId: string }> {
  const run = { runId: uuid7(), threadId: uuid7() };
  const common = { assistantId, kwargs: '{"resumable":true}', metadata: "{}", strategy: "enqueue" as const };
  const more = { createThread: true, afterSeconds: 0, temporary, describe: false, serverId: server.id, claim: true };
  await createRuns(db.sql, [{ ...run, ...common, ...more }]);
  return run;
}

/** Reads a run to its end. `cuts`: after how many bytes a connection breaks; every server may be asked. */
async function readAll(
  run: { runId: string; threadId: string },
  cuts: number[],
  choose: () => Server | undefined,
): Promise<Buffer> {
  const whole: Buffer[] = [];
  let count = 0;
  for (let connection = 0; ; connection++) {
    const server = choose();
    if (!server) {
      await sleep(5);
      continue;
    }
    const ended = await readOnce(server, run, count, cuts[connection] ?? Number.POSITIVE_INFINITY, (frame) => {
      whole.push(frame);
      count += 1;
    });
    if (ended) return Buffer.concat(whole);
  }
}

async function readOnce(
  server: Server,
  run: { runId: string; threadId: string },
  seen: number,
  bytes: number,
  take: (frame: Buffer) => void,
): Promise<boolean> {
  const { dead } = server;
  const lastEventId = String(seen - 1);
  const asked = joinStream(server.deps, run.threadId, run.runId, { lastEventId });
  const response = await Promise.race([asked.catch(() => "dead" as const), dead]);
  if (response === "dead") return false;
  const reader = response.body!.getReader();
  let buffer = Buffer.alloc(0);
  let left = bytes;
  for (;;) {
    const chunk = await Promise.race([reader.read(), dead]);
    if (chunk === "dead") return false;
    if (chunk.done) return true;
    const got = Buffer.from(chunk.value).subarray(0, left);
    left -= got.length;
    buffer = Buffer.concat([buffer, got]);
    const end = buffer.lastIndexOf("\n\n") + 2;
    if (end >= 2) {
      const frames = splitFrames(buffer.subarray(0, end)).map(({ frame }) => frame);
      // heartbeats are comments
      for (const frame of frames) if (frame[0] !== 0x3a) take(frame);
      buffer = buffer.subarray(end);
    }
    if (left <= 0) {
      await reader.cancel();
      return false;
    }
  }
}

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
  "what any reader of a resumable run has read is the same, wherever it was cut and whichever servers died",
  { timeout: 60_000 },
  async () => {
    const bystander = await new Server().start();
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      cuts,
      fc.nat(),
      async (steps, cutsOf, seed) => {
        let owner = await new Server().start();
        const run = await newRun(owner);
        let attempt = 1;
        await owner.execute(run.runId, run.threadId, attempt);
        let turn = seed;
        const readers = cutsOf.map((own) => readAll(run, own, () => [owner, bystander][turn++ % 2]!));
        for (const one of steps) {
          if (one.do === "wait") await sleep(one.ms);
          else if (one.do === "append") {
            for (const size of one.sizes) {
              owner.streams
                .get(run.runId)!
                .append("values", JSON.stringify({ text: "ä\u0000\n€".repeat(size / 4), size }));
            }
          } else {
            const before = owner;
            before.die();
            await deleteServer(db.sql, before.id);
            owner = await new Server().start();
            attempt += 1;
            await db.sql`update runs set server_id = ${owner.id}, attempt = ${attempt} where run_id = ${run.runId}`;
            await owner.execute(run.runId, run.threadId, attempt);
          }
        }
        await db.sql`update runs set status = 'success', ended_at = now() where run_id = ${run.runId}`;
        owner.executes.delete(run.runId);
        owner.streams.end(run.runId, { status: "success", answer: "null" });
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

test("a server that was taken for dead writes nothing between the frames of its successor", async () => {
  const [first, second] = [await new Server().start(), await new Server().start()];
  const run = await newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  const stream = first.streams.get(run.runId)!;
  await expect.poll(() => stream.log.count).toBe(1);
  await db.sql`update runs set server_id = ${second.id}, attempt = 2 where run_id = ${run.runId}`;
  await second.execute(run.runId, run.threadId, 2);
  stream.append("values", '"too late"');
  await expect.poll(() => stream.keeping).toBeUndefined();
  first.executes.clear();
  second.streams.get(run.runId)!.append("values", '"in time"');
  // its own readers go on with what the successor writes
  await expect.poll(() => stream.log.count).toBe(3);
  const [row] = await db.sql<{ text: string }[]>`
    select string_agg(frames, '' order by first) as text from run_stream_segments where run_id = ${run.runId}`;
  expect(row!.text).not.toContain("too late");
  expect(row!.text.match(/\nid: (\d+)/g)).toEqual(["\nid: 0", "\nid: 1", "\nid: 2"]);
});

test("a stream that a reader elsewhere asks for while its first frames are written is kept", async () => {
  const server = await new Server().start();
  const { runId, threadId } = await newRun(server);
  const frames = { runId, threadId, attempt: 1, first: 0, count: 1, frames: "id: 0\n\n", notify: false };
  let stored: Promise<string[]> | undefined;
  await db.sql.begin(async (asking) => {
    await asking`insert into run_streams (run_id, thread_id) values (${runId}, ${threadId})`;
    stored = appendFrames(server.sql, [{ ...frames, status: null }]);
    // it waits for this transaction
    await expect
      .poll(async () => await db.sql`select 1 from pg_locks where not granted and locktype = 'transactionid'`)
      .toHaveLength(1);
  });
  expect(await stored).toEqual(["stored"]);
  expect(await selectKeptStream(db.sql, runId)).toMatchObject({ frames: 1, attempt: 1 });
});

test("a reader that comes to the successor before the frames do is told none twice", async () => {
  const [first, second] = [await new Server().start(), await new Server().start()];
  const run = await newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  for (const n of [1, 2, 3, 4]) first.streams.get(run.runId)!.append("values", String(n));
  await expect.poll(async () => (await selectKeptStream(db.sql, run.runId))?.frames).toBe(5);
  first.die();
  await db.sql`update runs set server_id = ${second.id}, attempt = 2 where run_id = ${run.runId}`;
  // it has claimed the run, and not read yet what its predecessor kept
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
  second.streams.end(run.runId, { status: "success", answer: "null" });
  expect((await reading).match(/(?<=\nid: )\d+/g)).toEqual(["4", "5"]);
});

test("a run that is not resumable is kept from the moment on that somebody reads it elsewhere, from its first frame on", async () => {
  const [here, there] = [await new Server().start(), await new Server().start()];
  const run = await newRun(here);
  await here.execute(run.runId, run.threadId, 1, false);
  here.streams.get(run.runId)!.append("values", '{"n":1}');
  await sleep(50);
  expect(await selectKeptStream(db.sql, run.runId)).toBeUndefined();
  const reading = readAll(run, [], () => there);
  await expect.poll(() => there.streams.get(run.runId)?.log.count).toBe(2);
  here.streams.get(run.runId)!.append("values", '{"n":2}');
  await db.sql`update runs set status = 'success', ended_at = now() where run_id = ${run.runId}`;
  here.executes.clear();
  here.streams.end(run.runId, { status: "success", answer: '{"n":2}' });
  expect(splitFrames(await reading).map(({ name }) => name)).toEqual(["metadata", "values", "values"]);
  expect(there.streams.get(run.runId)!.outcome!.answer.toString()).toBe('{"n":2}');
});

test("kept frames go when their time to live is over, and a stream whose writer died is ended", async () => {
  const server = await new Server().start();
  const run = await newRun(server);
  await server.execute(run.runId, run.threadId, 1);
  await expect.poll(() => server.streams.get(run.runId)!.log.count).toBe(1);
  server.die();
  const error = '{"error":"Boo","message":"boo"}';
  await db.sql`update runs set status = 'error', error = ${error}::text::jsonb, ended_at = now() - interval '1 minute' where run_id = ${run.runId}`;
  await db.sql`update run_streams set created_at = now() - interval '1 hour' where run_id = ${run.runId}`;
  const other = await new Server().start();
  const sweeper = new StreamSweeper(other.sql, log, 60);
  sweeper.stop();
  await sweeper.sweep();
  expect(await selectKeptStream(db.sql, run.runId)).toMatchObject({ status: "error", frames: 2 });
  expect((await readAll(run, [], () => other)).toString()).toContain('event: error\ndata: {"error": "Boo"');
  await db.sql`update run_streams set ended_at = now() - interval '61 seconds' where run_id = ${run.runId}`;
  await sweeper.sweep();
  expect(await selectKeptStream(db.sql, run.runId)).toBeUndefined();
  expect(await db.sql`select 1 from run_stream_segments where run_id = ${run.runId}`).toHaveLength(0);
});

test("the last frames of a run whose server died at its end are made from what the run left", async () => {
  const server = await new Server().start();
  const run = await newRun(server);
  await server.execute(run.runId, run.threadId, 1);
  server.streams.get(run.runId)!.append("values", '{"n":1}');
  await expect.poll(() => server.streams.get(run.runId)!.log.count).toBe(2);
  const [reader, other] = [await new Server().start(), await new Server().start()];
  const reading = [readAll(run, [], () => reader), readAll(run, [], () => other)];
  server.die();
  await db.sql`update threads set values = '{"n":2}' where thread_id = ${run.threadId}`;
  await db.sql`update runs set status = 'success', ended_at = now() where run_id = ${run.runId}`;
  await deleteServer(db.sql, server.id);
  const [one, two] = await Promise.all(reading);
  expect(one!.equals(two!)).toBe(true);
  expect(splitFrames(one!).map(({ name }) => name)).toEqual(["metadata", "values", "values"]);
  expect(one!.toString()).toContain('event: values\ndata: {"n": 2}\nid: 2\n');
  expect(await selectKeptStream(db.sql, run.runId)).toMatchObject({ status: "success", frames: 3 });
});
