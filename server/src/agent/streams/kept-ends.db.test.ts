/** Ends of runs whose frames are kept: written once, by the attempt that has the frames, or marked incomplete. */
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { readAll, type RunIds, type StreamServer, streamServers } from "../../../test/stream-servers.ts";
import { splitFrames } from "../../base/events/sse.ts";
import { createLog } from "../../base/log.ts";
import { openThreadFrames } from "../thread-stream/thread-frames.ts";
import { ThreadWatch } from "../thread-stream/thread-watch.ts";
import { joinStream } from "../runs/read-run.ts";
import { endKeptRuns, keepFrames, selectKeptStream, takeOverStreams } from "./sql.ts";

const servers = await streamServers();
const { db } = servers;

/** Moves a run to another server, as a claim does. */
async function move(run: RunIds, from: StreamServer, to: StreamServer, attempt: number) {
  from.executes.delete(run.runId);
  await db.sql`update runs set server_id = ${to.id}, attempt = ${attempt} where run_id = ${run.runId}`;
  await to.execute(run.runId, run.threadId, attempt);
}

const finished = (run: RunIds, attempt: number) =>
  ({ ...run, attempt, outcome: "success", error: null, state: '{"values":{"n":1},"next":[]}' }) as const;

const keptText = async (runId: string): Promise<string> => {
  const [row] = await db.sql<{ text: string }[]>`
    select string_agg(frames, '' order by first) as text from run_stream_segments where run_id = ${runId}`;
  return row!.text;
};

test("stores the frames of a run that returns to a server which had lost it", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  const stream = first.streams.get(run.runId)!;
  await expect.poll(() => stream.log.count).toBe(1);
  await move(run, first, second, 2);
  stream.append("values", '"too late"');
  await expect.poll(() => stream.keeping).toBeUndefined();
  // the request of a remote reader reaches all servers
  first.keeper.want(stream);
  await sleep(50);
  await move(run, second, first, 3);
  first.streams.get(run.runId)!.append("values", '"third"');
  const ended = await first.keeper.end(first.streams.get(run.runId)!, finished(run, 3), undefined);
  expect(ended).toEqual({ outcome: "success", waiting: false });
  const text = await keptText(run.runId);
  expect(text.match(/(?<="attempt":)\d/g)).toEqual(["1", "2", "3"]);
  expect(text.match(/(?<=\nid: )\d+/g)).toEqual(["0", "1", "2", "3"]);
  expect(text).toContain('"third"');
});

test("a run is final exactly when all of its frames are stored, and only for its current attempt", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  const status = async () =>
    (await db.sql`select status from runs where run_id = ${run.runId}`)[0]!["status"] as string;
  await first.execute(run.runId, run.threadId, 1);
  const stream = first.streams.get(run.runId)!;
  await expect.poll(() => stream.log.count).toBe(1);
  await db.sql`update runs set server_id = ${second.id}, attempt = 2 where run_id = ${run.runId}`;
  await second.execute(run.runId, run.threadId, 2);
  // after a freeze, it still has frames and the end to write
  stream.append("values", '"late"');
  expect(await first.keeper.end(stream, finished(run, 1), undefined)).toMatchObject({ outcome: "lost" });
  expect(await status()).toBe("running");
  const [own, left] = [second.streams.get(run.runId)!, [1, 2, 3]];
  for (const n of left) own.append("values", `{"n":${n}}`);
  expect(await second.keeper.end(own, finished(run, 2), '{"score":"link"}')).toMatchObject({ outcome: "success" });
  expect(await status()).toBe("success");
  expect(await selectKeptStream(db.sql, run.runId)).toMatchObject({ status: "success", frames: 6, attempt: 2 });
  expect(await keptText(run.runId)).toMatch(/"n":3.*event: feedback\ndata: {"score":"link"}\nid: 5\n\n$/s);
});

test("writes frames and ends once when their answers are lost", async () => {
  const server = await servers.start();
  const run = await servers.newRun(server);
  const row = {
    ...run,
    attempt: 1,
    first: 0,
    count: 2,
    frames: "id: 0\n\nid: 1\n\n",
    marks: null,
    status: null,
    notify: false,
  };
  expect(await keepFrames(db.sql, [row])).toMatchObject([{ outcome: "stored", stored: 2 }]);
  expect(await keepFrames(db.sql, [row])).toMatchObject([{ outcome: "stored", stored: 2 }]);
  // more frames have arrived in the meantime
  const more = { ...row, count: 3, frames: `${row.frames}id: 2\n\n` };
  expect(await keepFrames(db.sql, [more])).toMatchObject([{ outcome: "behind", stored: 2 }]);
  const again = [{ runId: run.runId, attempt: 2 }];
  expect(await takeOverStreams(db.sql, again)).toMatchObject([{ frames: 2 }]);
  expect(await takeOverStreams(db.sql, again)).toMatchObject([{ frames: 2 }]);
  expect(await keepFrames(db.sql, [row])).toMatchObject([{ outcome: "lost" }]);
  await db.sql`update runs set attempt = 2 where run_id = ${run.runId}`;
  const end = { ...finished(run, 2), first: 2, count: 1, frames: "id: 2\n\n", last: "id: 3\n\n" };
  expect(await endKeptRuns(db.sql, [{ ...end, first: 0 }], false)).toMatchObject([{ outcome: "behind", stored: 2 }]);
  const whole = { outcome: "success", waiting: false, stored: 4 };
  expect(await endKeptRuns(db.sql, [end], false)).toEqual([whole]);
  expect(await endKeptRuns(db.sql, [end], false)).toEqual([whole]);
  expect(await endKeptRuns(db.sql, [{ ...end, attempt: 1 }], false)).toMatchObject([{ outcome: "lost" }]);
  expect(await keptText(run.runId)).toBe("id: 0\n\nid: 1\n\nid: 2\n\nid: 3\n\n");
});

test("no end counts as lost when many runs fail at once, shortly after a checkpoint", async () => {
  const server = await servers.start();
  const runs = await Promise.all(Array.from({ length: 24 }, () => servers.newRun(server)));
  const lock = await db.sql.reserve();
  let ending;
  try {
    // the ends wait here, after they have read the rows of their streams
    await lock`begin`;
    await lock`select 1 from runs where run_id = any(${runs.map(({ runId }) => runId)}::uuid[]) for update`;
    ending = Promise.allSettled(
      runs.map((run) => {
        void server.execute(run.runId, run.threadId, 1);
        const stream = server.streams.get(run.runId)!;
        // it is written after a pause, or with the next frames
        stream.mark(run.runId);
        stream.append("error", '{"error":"Boo","message":"boo"}');
        return server.keeper.end(stream, { ...finished(run, 1), outcome: "error", error: "{}" }, undefined);
      }),
    );
    await sleep(300);
  } finally {
    await lock`rollback`;
    lock.release();
  }
  const ends = (await ending).map((end) => (end.status === "fulfilled" ? end.value.outcome : String(end.reason)));
  expect(ends.filter((outcome) => outcome !== "error")).toEqual([]);
  for (const { runId } of runs) expect((await keptText(runId)).match(/(?<=\nid: )\d+/g)).toEqual(["0", "1"]);
});

test("a rolled back run gets no feedback frame", async () => {
  const server = await servers.start();
  const run = await servers.newRun(server);
  await server.execute(run.runId, run.threadId, 1);
  await db.sql`update runs set cancel_action = 'rollback' where run_id = ${run.runId}`;
  const stream = server.streams.get(run.runId)!;
  const ended = await server.keeper.end(stream, { ...finished(run, 1), outcome: "cancelled" }, '{"score":"link"}');
  expect(ended.outcome).toBe("deleted");
  expect(await selectKeptStream(db.sql, run.runId)).toMatchObject({ status: "deleted", frames: 1 });
});

test("readers whose frames were lost with their server's lease get an incomplete event at the run's end", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1, false);
  const stream = first.streams.get(run.runId)!;
  const reading = readAll(run, [], () => first);
  await db.sql`update runs set server_id = ${second.id}, attempt = 2 where run_id = ${run.runId}`;
  await second.execute(run.runId, run.threadId, 2, false);
  first.executes.delete(run.runId);
  first.keeper.drop(stream);
  first.follower.follow(run.runId);
  await expect.poll(async () => (await selectKeptStream(db.sql, run.runId))?.frames).toBe(1);
  await second.keeper.end(second.streams.get(run.runId)!, finished(run, 2), undefined);
  expect(splitFrames(await reading).map(({ name }) => name)).toEqual(["metadata", "incomplete"]);
  const [row] = await db.sql`select stream_incomplete from runs where run_id = ${run.runId}`;
  expect(row!["stream_incomplete"]).toMatch(/Another server/);
});

test("a reader on a server that lost a run gets its successor's frames while a write of that server hangs", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  const stream = first.streams.get(run.runId)!;
  await expect.poll(() => stream.log.count).toBe(1);
  const response = await joinStream(first.deps, run.threadId, run.runId, { lastEventId: "-1" });
  await move(run, first, second, 2);
  const continued = second.streams.get(run.runId)!;
  continued.append("values", '"second"');
  expect(await second.keeper.end(continued, finished(run, 2), undefined)).toMatchObject({ outcome: "success" });
  const lock = await db.sql.reserve();
  try {
    await lock`begin`;
    await lock`lock table run_streams in exclusive mode`;
    stream.append("values", '"unseen"');
    first.follower.follow(run.runId);
    await expect.poll(() => stream.outcome).toBeDefined();
  } finally {
    await lock`rollback`;
    lock.release();
  }
  const text = await response.text();
  expect(text.match(/(?<="attempt":)\d/g)).toEqual(["1", "2"]);
  expect(text).toContain('"second"');
  expect(text).not.toContain("unseen");
  const [row] = await db.sql`select stream_incomplete from runs where run_id = ${run.runId}`;
  expect(row!["stream_incomplete"]).toBeNull();
});

test("a server without disk space reads long streams back from the database, for local and remote readers", async () => {
  const [owner, other] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(owner);
  await owner.execute(run.runId, run.threadId, 1);
  const stream = owner.streams.get(run.runId)!;
  const following = readAll(run, [], () => other);
  for (let n = 0; n < 600; n++) {
    stream.append("values", `{"n":${n},"text":"${"x".repeat(8000)}"}`);
    if (n % 20 === 0) await sleep(5);
  }
  await owner.keeper.end(stream, finished(run, 1), undefined);
  owner.executes.delete(run.runId);
  owner.streams.end(run.runId, { status: "success", output: "null" });
  await expect.poll(() => stream.log.memory).toBeLessThan(4 * 1024 * 1024);
  const [own, followed] = [await readAll(run, [], () => owner), await following];
  expect(splitFrames(own).filter(({ name }) => name === "values")).toHaveLength(600);
  expect(splitFrames(own).some(({ name }) => name === "incomplete")).toBe(false);
  expect(own.equals(followed)).toBe(true);
});

test("a stream that is not stored and does not fit on the disk ends as incomplete, and its server continues", async () => {
  const server = await servers.start();
  const run = await servers.newRun(server);
  await server.execute(run.runId, run.threadId, 1, false);
  const stream = server.streams.get(run.runId)!;
  for (let n = 0; n < 600; n++) {
    stream.append("values", `{"n":${n},"text":"${"x".repeat(8000)}"}`);
    if (n % 20 === 0) await sleep(2);
  }
  stream.append("error", '{"error":"Boo","message":"boo"}');
  await stream.flagged;
  server.executes.delete(run.runId);
  server.streams.end(run.runId, { status: "error", output: "null" });
  const frames = splitFrames(await readAll(run, [], () => server));
  expect(frames.map(({ frame }) => Number(/\nid: (\d+)\n/.exec(frame.toString())![1]))).toEqual(
    frames.map((_, i) => i),
  );
  expect(frames.slice(-2).map(({ name }) => name)).toEqual(["incomplete", "error"]);
  expect(stream.lastValues!.toString()).toContain('"n":599');
  expect(stream.log.memory).toBeLessThan(4 * 1024 * 1024);
  const [row] = await db.sql`select stream_incomplete from runs where run_id = ${run.runId}`;
  expect(row!["stream_incomplete"]).toBe("This server's streams need more than 0 MB of disk.");
});

test("cuts off the readers of a server that stops during a run, so that they reconnect", async () => {
  const server = await servers.start();
  const run = await servers.newRun(server);
  await server.execute(run.runId, run.threadId, 1);
  const stream = server.streams.get(run.runId)!;
  await expect.poll(() => stream.log.count).toBe(1);
  const signal = new AbortController().signal;
  const threadWatch = new ThreadWatch(server.sql, createLog("silent"));
  const options = { threadId: run.threadId, from: "start", states: false, signal } as const;
  const ofThread = (await openThreadFrames({ ...server.deps, threadWatch }, options))!;
  const ofRun = (await joinStream(server.deps, run.threadId, run.runId, {})).text();
  expect((await ofThread.next()).value).toMatchObject({ kind: "frame", number: 0 });
  const next = ofThread.next();
  await Promise.all([server.streams.stop(), expect(ofRun).rejects.toThrow(), expect(next).rejects.toThrow("disposed")]);
});

test("frames that the database rejects are missing for all readers, and later frames are stored", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  const stream = first.streams.get(run.runId)!;
  await expect.poll(() => stream.log.count).toBe(1);
  const readings = Promise.all([first, second].map((server) => readAll(run, [], () => server)));
  // Postgres text cannot contain NUL
  stream.append("custom", '"\0"');
  await expect.poll(() => stream.log.count).toBe(2);
  stream.append("values", '"behind"');
  await first.keeper.end(stream, finished(run, 1), undefined);
  first.executes.delete(run.runId);
  first.streams.end(run.runId, { status: "success", output: "" });
  const text = await keptText(run.runId);
  expect(text.match(/(?<=event: )\w+/g)).toEqual(["metadata", "incomplete", "values"]);
  expect((await readings).map(String)).toEqual([text, text]);
});

test.concurrent("a remote reader of a run rolled back before it begins receives no frame", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await db.sql`update runs set status = 'pending', attempt = 0, server_id = null where run_id = ${run.runId}`;
  const reading = readAll(run, [], () => second);
  await expect.poll(() => selectKeptStream(db.sql, run.runId)).toBeDefined();
  await sleep(700);
  await db.sql`delete from runs where run_id = ${run.runId}`;
  expect((await reading).toString()).toBe("");
  expect(await selectKeptStream(db.sql, run.runId)).toMatchObject({ status: "deleted", frames: 0 });
});

test.concurrent("a remote reader of a run rolled back after its server was lost gets an incomplete event, as stored", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1, false);
  first.die();
  const reading = readAll(run, [], () => second);
  await sleep(700);
  await db.sql`insert into run_streams (run_id, thread_id) values (${run.runId}, ${run.threadId}) on conflict do nothing`;
  await db.sql`delete from runs where run_id = ${run.runId}`;
  const text = (await reading).toString();
  expect(text).toMatch(/^event: incomplete\ndata: .*"attempt":1/);
  expect(await keptText(run.runId)).toBe(text);
});

test.concurrent("a server that cannot get a deleted run's last frames says so without using the id of one", async () => {
  const [first, second] = [await servers.start(), await servers.start()];
  const run = await servers.newRun(first);
  await first.execute(run.runId, run.threadId, 1);
  const reading = readAll(run, [], () => second);
  await expect.poll(() => second.streams.get(run.runId)?.log.count).toBe(1);
  // as the deletion of its thread does
  await db.sql`delete from run_streams where run_id = ${run.runId}`;
  await db.sql`delete from runs where run_id = ${run.runId}`;
  first.executes.delete(run.runId);
  first.streams.end(run.runId, { status: "deleted", output: "" });
  const cut = (await reading).toString();
  expect(cut.match(/(?<=^event: )\w+/gm)).toEqual(["metadata", "incomplete"]);
  expect(cut.match(/(?<=^id: )\d+/gm)).toEqual(["0"]);
});

test("an end is announced to all servers only if some of them may wait for it without having asked for the frames", async () => {
  const [owner, other] = [await servers.start(), await servers.start()];
  const announced: string[] = [];
  await other.sql.listen("heddle_done", (runId) => announced.push(runId));
  const end = async (quiet: boolean, isWanted: boolean) => {
    const run = await servers.newRun(owner);
    await owner.execute(run.runId, run.threadId, 1);
    const stream = owner.streams.get(run.runId)!;
    if (isWanted) owner.keeper.want(stream);
    await owner.keeper.end(stream, { ...finished(run, 1), quiet }, undefined);
    return run.runId;
  };
  const silent = await end(true, false);
  const wanted = await end(true, true);
  const loud = await end(false, false);
  await expect.poll(() => announced).toEqual([wanted, loud]);
  // a reader elsewhere that saw the run before its end, and asks only now
  owner.keeper.want(owner.streams.get(silent)!);
  await expect.poll(() => announced).toEqual([wanted, loud, silent]);
});
