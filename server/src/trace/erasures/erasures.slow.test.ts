import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { RetentionSweep } from "../retention/retention-sweep.ts";
import { ErasureWorker } from "./erasure-worker.ts";

const { call, platform, sql, clickhouse } = await testTracePlatform();
const worker = new ErasureWorker(platform.deps, { graceSeconds: 0 });
const [disk] = await clickhouse.rows<{ path: string }>({ name: "t", query: "select path from system.disks" });
const [postgres] = await sql<{ directory: string; pid: number }[]>`
  select current_setting('data_directory') as directory, pg_backend_pid() as pid`;
// the tests' Postgres knows its directory by this link
const postgresFiles = postgres!.directory.replace("/proc/self/", `/proc/${postgres!.pid}/`);
for (const table of ["runs", "run_attachments", "run_keys", "feedback"]) {
  // the engine removes replaced files at once, and not after eight minutes
  const settings = "old_parts_lifetime = 1, cleanup_delay_period = 1, cleanup_delay_period_random_add = 0";
  await clickhouse.command({ name: "t", query: `alter table ${table} modify setting ${settings}` });
}

const projectId = async (name: string) => (await call("GET", `/sessions?name=${name}`)).json[0].id as string;

/** Returns which stores have the text in their files. */
async function storesWith(text: string): Promise<string[]> {
  await sql`checkpoint`;
  const has = (directory: string) => {
    try {
      execFileSync("grep", ["-rqaF", text, directory]);
      return true;
    } catch {
      return false;
    }
  };
  const stores = { traces: disk!.path, postgres: `${postgresFiles}/base`, files: platform.deps.dataDir };
  return Object.entries(stores).flatMap(([name, path]) => (has(path) ? [name] : []));
}

/** Stores a run with its id as marker in a tag, a file, feedback and an example. */
async function store(project: string) {
  const run = sampleRun(project, { tags: [`marker-${project}`] });
  const text = `marker-${project}`;
  const rest = { ...run, inputs: undefined, outputs: undefined };
  const part = (name: string, type: string, content: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\nContent-Length: ${content.length}\r\n\r\n${content}\r\n`;
  const body =
    part(`post.${run.id}`, "application/json", JSON.stringify(rest)) +
    part(`attachment.${run.id}.notes`, "text/plain", text) +
    "--b--\r\n";
  const sent = await call("POST", "/runs/multipart", body, { "Content-Type": "multipart/form-data; boundary=b" });
  expect(sent.status).toBe(202);
  expect((await call("POST", "/feedback", { run_id: run.id, key: "k", comment: text })).status).toBe(200);
  const dataset = (await call("POST", "/datasets", { name: project })).json.id as string;
  const example = { dataset_id: dataset, source_run_id: run.id, inputs: { text } };
  expect((await call("POST", "/examples", example)).status).toBe(200);
  return { run, text, dataset };
}

async function finish(id: string) {
  const read = async () => {
    await worker.pass();
    return (await call("GET", `/erasures/${id}`)).json;
  };
  await expect.poll(async () => (await read()).status, { timeout: 40_000, interval: 500 }).toBe("done");
}

test("an erased project leaves no byte in any store, and its status says when", async () => {
  const { run, text, dataset } = await store("erased");
  await store("kept");
  expect(await storesWith(text)).toEqual(["traces", "postgres", "files"]);
  const session_id = await projectId("erased");
  // the planner's statistics hold no contents
  await sql`analyze`;
  // a transaction that still sees the rows for two seconds
  const reader = sql.begin("isolation level repeatable read", async (tx) => {
    await tx`select count(*) from feedback`;
    await sleep(2000);
  });
  const created = await call("POST", "/erasures", { session_id, dataset_copies: true });
  expect(created).toMatchObject({ status: 202, json: { status: "pending", scope: "project", dataset_copies: true } });
  await finish(created.json.id);
  await reader;
  expect(await storesWith(text)).toEqual([]);
  expect((await call("GET", `/runs/${run.id}`)).status).toBe(404);
  expect((await call("GET", `/examples?dataset=${dataset}`)).json).toEqual([]);
  expect(await storesWith("marker-kept")).toEqual(["traces", "postgres", "files"]);
});

test("a deleted trace keeps its copies in datasets unless asked, and is followed until it is off the disk", async () => {
  const { run, dataset } = await store("traces");
  const session_id = await projectId("traces");
  const deleted = await call("POST", "/runs/delete/traces", { session_id, trace_ids: [run.id] });
  expect(deleted.json).toMatchObject({ deleted_traces: 1, erasure_id: expect.any(String) });
  const { erasure_id } = deleted.json;
  expect((await call("GET", `/erasures/${erasure_id}`)).json).toMatchObject({ status: "deleted", traces: 1 });
  expect((await call("GET", `/examples?dataset=${dataset}`)).json).toHaveLength(1);
  await sql`update erasures set deleted_at = now() - interval '2 minutes' where erasure_id = ${erasure_id}`;
  await new RetentionSweep(platform.deps).sweep();
  await finish(erasure_id);
  expect(await storesWith("marker-traces")).toEqual(["postgres"]);
});

test("a legal hold prevents deletion, by a request as by retention, until it is released", async () => {
  const { run } = await store("held");
  const old = sampleRun("held", { start_time: microseconds(Date.now() - 40 * 86_400_000) });
  await sendRuns(call, [old]);
  const session_id = await projectId("held");
  await call("PATCH", `/sessions/${session_id}`, { retention_days: 30 });
  const hold = await call("POST", "/legal-holds", { session_id, reason: "case 7" });
  expect(hold).toMatchObject({ status: 201, json: { session_id, reason: "case 7", released_at: null } });
  const workspace_id = (await call("GET", `/sessions/${session_id}`)).json.tenant_id;
  const requests: [string, string, object?][] = [
    ["DELETE", `/sessions/${session_id}`],
    ["DELETE", `/sessions?session_ids=${session_id}`],
    ["POST", "/runs/delete/traces", { session_id, trace_ids: [run.id] }],
    ["POST", "/runs/delete", { trace_ids: [run.id] }],
    ["POST", "/erasures", { session_id }],
    ["POST", "/erasures", { trace_ids: [run.id] }],
    ["POST", "/erasures", { workspace_id }],
  ];
  for (const [method, path, body] of requests) {
    const { status, text } = await call(method, path, body);
    expect([method, path, status, text]).toEqual([method, path, 409, expect.stringContaining("case 7")]);
  }
  await new RetentionSweep(platform.deps).sweep();
  expect((await call("GET", `/runs/${old.id}`)).status).toBe(200);
  expect((await call("DELETE", `/legal-holds/${hold.json.id}`)).json.released_at).not.toBeNull();
  await new RetentionSweep(platform.deps).sweep();
  expect((await call("GET", `/runs/${old.id}`)).status).toBe(404);
  expect((await call("DELETE", `/sessions/${session_id}`)).status).toBe(200);
});

test("an erased workspace loses its runs, feedback, files and datasets, and another keeps its own", async () => {
  const other = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
  const [mine, theirs] = [sampleRun("mine"), sampleRun("theirs")];
  await sendRuns(call, [mine]);
  await sendRuns(call, [theirs], other);
  const workspace_id = (await call("GET", `/sessions/${await projectId("mine")}`)).json.tenant_id;
  expect((await call("POST", "/erasures", { workspace_id }, other)).status).toBe(403);
  for (const headers of [{}, other]) {
    const prompt = { repo_handle: "greeting", is_public: false, readme: "prompt-readme" };
    expect((await call("POST", "/repos", prompt, headers)).status).toBe(200);
  }
  const manifest = { text: `marker-prompt ${"x".repeat(5000)}` };
  expect((await call("POST", "/commits/-/greeting", { manifest })).status).toBe(201);
  const created = await call("POST", "/erasures", { workspace_id, dataset_copies: true });
  await finish(created.json.id);
  expect(await storesWith("marker-")).toEqual([]);
  expect((await call("GET", "/repos")).json).toEqual({ repos: [], total: 0 });
  expect((await call("GET", "/repos", undefined, other)).json).toMatchObject({ total: 1 });
  // a list of none creates the default project
  expect((await call("GET", "/sessions")).json).toMatchObject([{ name: "default" }]);
  expect((await call("GET", "/datasets")).json).toEqual([]);
  expect((await call("GET", `/runs/${theirs.id}`, undefined, other)).status).toBe(200);
  expect((await call("GET", `/erasures/${created.json.id}`, undefined, other)).status).toBe(404);
});
