/** Runs across the lifecycle of servers: shutdown, shared databases, time limits, delays. Real servers, real hosts. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { until } from "../../../test/until.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "heddle-lifecycle-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function newThread(server: TestAgentServer): Promise<string> {
  return (await server.call("POST", "/threads", {})).json.thread_id as string;
}

async function background(server: TestAgentServer, threadId: string, graph: string, input: object, more: object = {}) {
  const response = await server.call("POST", `/threads/${threadId}/runs`, { assistant_id: graph, input, ...more });
  expect(response.status).toBe(200);
  return `/threads/${threadId}/runs/${response.json.run_id}`;
}

const noted = (file: string): string[] => {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
};

test("a stopping server lets short runs finish, and hands long ones back without using up an attempt", async () => {
  const db = await testDatabase();
  const env = { HEDDLE_SHUTDOWN_GRACE_SECS: "1" };
  const first = await testAgentServer(env, PROJECT, { db });
  const file = join(dir, "handed-back");
  const short = await background(first, await newThread(first), "good", { ms: 300 });
  const long = await background(first, await newThread(first), "patient", { file, ms: 2500 });
  await until(async () => noted(file).includes("b start"));
  await first.stop();

  const rows = await db.sql<{ status: string; failures: number; attempt: number }[]>`
    select status, failures, attempt from runs order by seq`;
  expect([...rows]).toEqual([
    { status: "success", failures: 0, attempt: 1 },
    { status: "pending", failures: 0, attempt: 1 },
  ]);
  expect((await db.sql`select 1 from servers`).length).toBe(0);

  const second = await testAgentServer(env, PROJECT, { db });
  expect((await second.call("GET", short)).json.status).toBe("success");
  const joined = await second.call("GET", `${long}/join`);
  expect(joined.json.done).toEqual(["a", "b", "c"]);
  // the interrupted step is run again, completed steps are not
  expect(noted(file)).toEqual(["a start", "a end", "b start", "b start", "b end", "c start", "c end"]);
});

test("either of two servers on one database can wait for, follow and cancel a run of the other", async () => {
  const db = await testDatabase();
  const server = await testAgentServer({}, PROJECT, { db });
  const other = await testAgentServer({}, PROJECT, { db });
  await until(async () => (await db.sql`select 1 from servers`).length === 2);
  const file = join(dir, "shared");
  const run = await background(server, await newThread(server), "patient", { file, ms: 400 });
  expect((await other.call("GET", `${run}/join`)).json.done).toEqual(["a", "b", "c"]);
  const cut = await background(server, await newThread(server), "patient", { file: join(dir, "cut"), ms: 600_000 });
  await until(async () => (await other.call("GET", cut)).json.status === "running");
  const startedAt = Date.now();
  expect((await other.call("POST", `${cut}/cancel?wait=1`)).status).toBe(204);
  // not only at the end of its step
  expect(Date.now() - startedAt).toBeLessThan(30_000);
  expect((await server.call("GET", cut)).json.status).toBe("interrupted");
});

test("a run beyond its time limit ends as timeout, with a matching error frame", async () => {
  const server = await testAgentServer({ HEDDLE_RUN_TIMEOUT_SECS: "1" }, PROJECT);
  const threadId = await newThread(server);
  const { text } = await server.call("POST", `/threads/${threadId}/runs/stream`, {
    assistant_id: "good",
    input: { ms: 20_000 },
  });
  expect(text).toMatch(/event: error\ndata: \{"error":"RunTimeoutError","message":"The run took longer than 1 s."\}/);
  const [run] = (await server.call("GET", `/threads/${threadId}/runs`)).json;
  expect(run.status).toBe("timeout");
  expect((await server.call("GET", `/threads/${threadId}`)).json.status).toBe("error");
});

test("rejects parameters that would make a run's trace invalid", async () => {
  const server = await testAgentServer({}, PROJECT);
  for (const [what, more] of [
    ["langsmith_tracer.example_id", { langsmith_tracer: { example_id: "nobody" } }],
    ["langsmith_tracer.project_name", { langsmith_tracer: { project_name: "p".repeat(1025) } }],
    ["config.run_name", { config: { run_name: "n".repeat(4097) } }],
    ["config.run_name", { config: { run_name: 5 } }],
    ["config.tags", { config: { tags: Array.from({ length: 1001 }, String) } }],
  ] as const) {
    const { status, text } = await server.call("POST", "/runs", { assistant_id: "good", input: {}, ...more });
    expect([status, text]).toEqual([422, expect.stringContaining(`${what}: `)]);
  }
});

test("after_seconds delays a run, accurate to a second", async () => {
  const server = await testAgentServer({}, PROJECT);
  // waits for its host
  await server.call("POST", "/runs/wait", { assistant_id: "good", input: { ms: 0 } });
  const started = Date.now();
  const plain = await background(server, await newThread(server), "good", { ms: 0 });
  await server.call("GET", `${plain}/join`);
  const startedAt = Date.now();
  const run = await background(server, await newThread(server), "good", { ms: 0 }, { after_seconds: 1 });
  expect((await server.call("GET", run)).json.status).toBe("pending");
  expect((await server.call("GET", `${run}/join`)).json.done).toEqual(["only"]);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1000);
  // one poll a second, plus the time that a run takes on this machine
  expect(Date.now() - startedAt).toBeLessThan(1000 + 3000 + 20 * (startedAt - started));
});

test("runs beyond the number of slots wait, and all of them end", async () => {
  const server = await testAgentServer({ N_JOBS_PER_WORKER: "3" }, PROJECT);
  const runs = await Promise.all(
    Array.from({ length: 15 }, async () => background(server, await newThread(server), "good", { ms: 100 })),
  );
  let max = 0;
  await until(async () => {
    const [row] = await server.sql<{ running: number; done: number }[]>`
      select count(*) filter (where status = 'running')::int as running,
             count(*) filter (where status = 'success')::int as done from runs`;
    max = Math.max(max, row!.running);
    return row!.done === runs.length;
  });
  expect(max).toBe(3);
});

test("simultaneous creations start no more runs than there are slots", async () => {
  const server = await testAgentServer({ N_JOBS_PER_WORKER: "2" }, PROJECT);
  await server.call("POST", "/runs/wait", { assistant_id: "good", input: { ms: 0 } });
  const threads = await Promise.all(Array.from({ length: 12 }, () => newThread(server)));
  const runs = await Promise.all(threads.map((thread) => background(server, thread, "good", { ms: 200 })));
  let max = 0;
  await until(async () => {
    const [row] = await server.sql<{ running: number; done: number }[]>`
      select count(*) filter (where status = 'running')::int as running,
             count(*) filter (where status = 'success' and not temporary)::int as done from runs`;
    max = Math.max(max, row!.running);
    return row!.done === runs.length;
  });
  expect(max).toBe(2);
});

test("refills a slot as soon as it is free, even when its host is never idle", async () => {
  const server = await testAgentServer({ N_JOBS_PER_WORKER: "2" }, PROJECT);
  await server.call("POST", "/runs/wait", { assistant_id: "good", input: { ms: 0 } });
  const takes = async (): Promise<number> => {
    const startedAt = Date.now();
    const runs = await Promise.all(
      Array.from({ length: 24 }, async () => background(server, await newThread(server), "good", { ms: 30 })),
    );
    for (const run of runs) expect((await server.call("GET", `${run}/join`)).json.done).toEqual(["only"]);
    return Date.now() - startedAt;
  };
  const twoSlots = await takes();
  const long = await background(server, await newThread(server), "good", { ms: 300_000 });
  // with a poll per second it took twelve seconds instead of one
  expect(await takes()).toBeLessThan(5 * Math.max(twoSlots, 1000));
  expect((await server.call("GET", long)).json.status).toBe("running");
  await server.call("POST", `${long}/cancel`);
});

test("a server without pending runs does not look for work after every run", async () => {
  const db = await testDatabase();
  await db.sql.unsafe(`alter database "${new URL(db.uri).pathname.slice(1)}" set track_functions = 'all'`);
  const server = await testAgentServer({}, PROJECT, { db });
  await server.call("POST", "/runs/wait", { assistant_id: "good", input: { ms: 0 } });
  const looks = async (): Promise<number> => {
    // sessions report their counters after a statement, once a second at most
    await sleep(1200);
    const [row] = await db.sql<{ calls: number }[]>`
      select coalesce(sum(calls), 0)::int as calls from pg_stat_user_functions where funcname = 'claim_runs'`;
    return row!.calls;
  };
  await until(async () => (await looks()) > 0);
  const before = await looks();
  expect(before).toBeGreaterThan(0);
  const startedAt = Date.now();
  const thread = await newThread(server);
  for (let n = 0; n < 40; n++) {
    await server.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "good", input: { ms: 0 } });
  }
  const polls = (Date.now() - startedAt) / 1000 + 1.2;
  expect((await looks()) - before).toBeLessThan(polls + 10);
});
