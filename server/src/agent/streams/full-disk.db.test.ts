/** Gaps of streams, events and time limits while Postgres has no disk space for a while. A real server and real hosts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { selectLifecycle } from "../protocol/sql.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));
/** Longer than the pauses between retries. */
const FULL_MS = 600;
const dir = mkdtempSync(join(tmpdir(), "heddle-full-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const { agent, sql, call } = await testAgentServer({ HEDDLE_RUN_TIMEOUT_SECS: "4" }, PROJECT);
const { streams, follower } = agent.deps;
await sql.unsafe(`create function fail_full() returns trigger language plpgsql as $$
  begin raise exception 'could not extend file' using errcode = '53100'; end $$`);

/** Makes these writes fail as on a full disk, until `empty`. */
async function fill(table: string, event: string, condition = "true"): Promise<void> {
  await sql.unsafe(`create trigger full_disk before ${event} on ${table} for each row when (${condition})
    execute function fail_full()`);
}

async function empty(): Promise<void> {
  for (const table of ["runs", "run_stream_segments"]) await sql.unsafe(`drop trigger if exists full_disk on ${table}`);
}
afterEach(empty);

const fillMarks = () => fill("runs", "update of stream_incomplete", "new.stream_incomplete is not null");

async function start(name: string, ms: number, command = false) {
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  const run = { assistant_id: "patient", input: { file: join(dir, name), ms } };
  const { json } = command
    ? await call("POST", `/threads/${thread}/commands`, { id: 1, method: "run.start", params: run })
    : await call("POST", `/threads/${thread}/runs`, { ...run, stream_resumable: true });
  const runId = (command ? json.result.run_id : json.run_id) as string;
  return { runId, path: `/threads/${thread}/runs/${runId}`, thread };
}

beforeAll(async () => {
  // waits for the hosts
  const { path } = await start("warm", 10);
  await call("GET", `${path}/join`);
});

/** A run that ended before any server started it, with a frame that is only here. */
async function movedRun(): Promise<string> {
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  const body = { assistant_id: "patient", input: {}, after_seconds: 600 };
  const runId = (await call("POST", `/threads/${thread}/runs`, body)).json.run_id as string;
  streams.open(runId).append("values", "{}");
  await sql`update runs set status = 'success', attempt = 1 where run_id = ${runId}`;
  return runId;
}

const markOf = async (runId: string) =>
  (await sql<{ mark: string | null }[]>`select stream_incomplete as mark from runs where run_id = ${runId}`)[0]!.mark;

async function textOf(runId: string): Promise<string> {
  const { log } = streams.get(runId)!;
  return String((await log.readHidden(0)).bytes ?? "");
}

test("a gap of a stream is recorded with its run once there is space", async () => {
  await fillMarks();
  const { runId, path } = await start("gap", 300);
  streams.get(runId)!.markIncomplete("A frame was lost.", 1);
  await sleep(FULL_MS);
  await empty();
  await call("GET", `${path}/join`);
  expect((await call("GET", path)).json).toMatchObject({ status: "success", stream_incomplete: "A frame was lost." });
});

test("events of protocol v2 wait for space", async () => {
  await fill("run_stream_segments", "insert", "new.last_seq is not null");
  const { runId, path } = await start("events", 50, true);
  await sleep(FULL_MS);
  await empty();
  await call("GET", `${path}/join`);
  await expect
    .poll(async () => (await selectLifecycle(sql, runId)).map((text) => JSON.parse(text).data.event))
    .toEqual(["running", "completed"]);
  expect((await call("GET", path)).json).not.toHaveProperty("stream_incomplete");
});

test("a run that exceeds its time limit ends once there is space", async () => {
  await fill("runs", "update of cancel_action", "new.cancel_action is not null");
  const { path } = await start("limit", 60_000);
  await sleep(4000 + FULL_MS);
  await empty();
  await expect.poll(async () => (await call("GET", path)).json.status, { timeout: 10_000 }).toBe("timeout");
}, 30_000);

test("readers learn that frames are on another server after the run is marked", async () => {
  await fillMarks();
  const runId = await movedRun();
  const old = streams.open(runId);
  follower.follow(runId);
  await sleep(FULL_MS);
  expect(old.outcome).toBeUndefined();
  expect(await textOf(runId)).not.toContain("incomplete");
  await empty();
  await expect.poll(() => old.outcome?.status, { timeout: 5000 }).toBe("success");
  expect(await textOf(runId)).toContain("event: incomplete");
  expect(await markOf(runId)).toContain("Another server");
});

test("readers of a stream that was begun anew learn of it after the run is marked", async () => {
  await fillMarks();
  const runId = await movedRun();
  const old = streams.open(runId);
  streams.replace(old, "Begun anew.");
  streams.end(runId, { status: "success", output: "{}" });
  await sleep(FULL_MS);
  expect([old.outcome, old.log.appended]).toEqual([undefined, 1]);
  await empty();
  await expect.poll(() => old.outcome?.status, { timeout: 5000 }).toBe("success");
  expect(old.log.appended).toBe(2);
  expect(await markOf(runId)).toBe("Begun anew.");
});
