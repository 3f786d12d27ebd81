/** What an erasure deletes is fixed when it begins; a legal hold stops every batch after it. */
import { afterEach, expect, test } from "vitest";

import { readOptions } from "../../base/config/options.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { Deletions } from "../legal-holds/deletions.ts";
import { RetentionSweep } from "../retention/retention-sweep.ts";
import { traceOptions } from "../settings.ts";
import { ErasureWorker } from "./erasure-worker.ts";

const { call, platform, sql, clickhouse } = await testTracePlatform();
const { deps } = platform;
// the tests advance erasures themselves
deps.erasures = { wake() {} };

type Headers = Record<string, string>;

/** Deletes what was asked for; the pass after it is a separate step. */
const pass = () => new ErasureWorker(deps, { graceSeconds: 3600 }).pass();
const secondPass = () => new ErasureWorker(deps, { graceSeconds: 0 }).pass();
let workspaces = 0;
/** Returns headers of an unused workspace. */
const workspace = (): Headers => ({
  "x-test-workspace": `00000000-0000-7000-8000-${String(100 + workspaces++).padStart(12, "0")}`,
});
const statusOf = async (id: string, headers: Headers) => (await call("GET", `/runs/${id}`, undefined, headers)).status;
const projectId = async (name: string, headers: Headers) =>
  (await call("GET", `/sessions?name=${name}`, undefined, headers)).json[0].id as string;
const pending = (project: string, fields = {}) => sampleRun(project, fields, { seconds: null });
const requestErasure = async (body: object, headers: Headers) => {
  const created = await call("POST", "/erasures", body, headers);
  expect(created.status).toBe(202);
  return created.json.id as string;
};
const readErasure = async (id: string, headers: Headers) =>
  (await call("GET", `/erasures/${id}`, undefined, headers)).json;
const placeHold = async (headers: Headers, session_id?: string) => {
  const placed = await call("POST", "/legal-holds", { session_id, reason: "case 9" }, headers);
  expect(placed.status).toBe(201);
  return placed.json.id as string;
};
const release = (id: string, headers: Headers) => call("DELETE", `/legal-holds/${id}`, undefined, headers);

/** Does something when a point of a deletion is reached for the `nth` time. */
function at(point: string, work: () => Promise<unknown>, nth = 1): void {
  let left = nth;
  deps.deletions = new Deletions(sql, async (name) => {
    if (name === point && --left === 0) await work();
  });
}
const killed = () => Promise.reject(new Error("killed"));
afterEach(() => void (deps.deletions = new Deletions(sql)));

test("an erased workspace keeps the runs that arrive afterwards, their updates and feedback", async () => {
  const mine = workspace();
  const before = pending("p");
  await sendRuns(call, [before], mine);
  const id = await requestErasure({ workspace_id: mine["x-test-workspace"] }, mine);
  await pass();
  expect(await statusOf(before.id, mine)).toBe(404);
  const after = pending("p");
  await sendRuns(call, [after], mine);
  const feedback = await call("POST", "/feedback", { run_id: after.id, key: "k", comment: "kept" }, mine);
  await secondPass();
  expect(await sql`select 1 from erasures where erasure_id = ${id} and rewritten_at is not null`).toHaveLength(1);
  expect(await statusOf(after.id, mine)).toBe(200);
  await call("PATCH", `/runs/${after.id}`, { outputs: { late: true } }, mine);
  expect((await call("GET", `/runs/${after.id}`, undefined, mine)).json.outputs).toEqual({ late: true });
  expect((await call("GET", `/feedback/${feedback.json.id}`, undefined, mine)).json.comment).toBe("kept");
  // an update of an erased run is late, and dropped
  await call("PATCH", `/runs/${before.id}`, { outputs: { late: true } }, mine);
  expect(await statusOf(before.id, mine)).toBe(404);
});

test("a hold of a new project does not keep what was erased before, nor is the project touched", async () => {
  const mine = workspace();
  await sendRuns(call, [pending("p")], mine);
  const id = await requestErasure({ workspace_id: mine["x-test-workspace"] }, mine);
  await pass();
  const after = pending("p");
  await sendRuns(call, [after], mine);
  await placeHold(mine, await projectId("p", mine));
  await secondPass();
  expect(await sql`select 1 from erasures where erasure_id = ${id} and rewritten_at is not null`).toHaveLength(1);
  expect(await statusOf(after.id, mine)).toBe(200);
});

test("a project that is created again under the same id keeps its new runs, and loses the old ones", async () => {
  const mine = workspace();
  const [before, after] = [pending("again"), pending("again")];
  await sendRuns(call, [before], mine);
  const id = await projectId("again", mine);
  expect((await call("DELETE", `/sessions/${id}`, undefined, mine)).status).toBe(200);
  expect((await call("POST", "/sessions", { id, name: "again" }, mine)).status).toBe(200);
  await sendRuns(call, [after], mine);
  // a piece of the old run, which another replica stored in the meantime
  await clickhouse.command({
    name: "test",
    query: `insert into runs (tenant_id, project_id, start_time, id, trace_id, updated_at)
      values ({tenant:UUID}, {project:UUID}, now64(6), {id:UUID}, {id:UUID}, now64(6))`,
    params: { tenant: mine["x-test-workspace"]!, project: id, id: before.id },
  });
  await sql`update erasures set deleted_at = now() - interval '2 minutes'`;
  await sql`update project_deletions set deleted_at = now() - interval '2 minutes'`;
  await new RetentionSweep(deps).sweep();
  expect(await statusOf(after.id, mine)).toBe(200);
  const query = "select id from runs where project_id = {id:UUID}";
  expect(await clickhouse.rows({ name: "test", query, params: { id } })).toEqual([{ id: after.id }]);
});

test("a trace that arrives after its erasure stays", async () => {
  const mine = workspace();
  const [known, unknown] = [pending("t"), pending("t")];
  await sendRuns(call, [known], mine);
  await requestErasure({ trace_ids: [known.id, unknown.id] }, mine);
  await pass();
  await sendRuns(call, [unknown], mine);
  await secondPass();
  expect(await Promise.all([known, unknown].map(({ id }) => statusOf(id, mine)))).toEqual([404, 200]);
});

test("an interrupted erasure of a workspace continues with what it found, and takes nothing newer", async () => {
  const mine = workspace();
  const [before, after] = [pending("p"), pending("p")];
  await sendRuns(call, [before], mine);
  const id = await requestErasure({ workspace_id: mine["x-test-workspace"], dataset_copies: true }, mine);
  at("deletion-batch", killed, 2);
  await expect(pass()).rejects.toThrow("killed");
  await sendRuns(call, [after], mine);
  const feedback = await call("POST", "/feedback", { run_id: crypto.randomUUID(), key: "k" }, mine);
  const dataset = await call("POST", "/datasets", { name: "new" }, mine);
  // "after" is in a project that the erasure found
  const kept = pending("new");
  await sendRuns(call, [kept], mine);
  await pass();
  await secondPass();
  expect((await readErasure(id, mine)).deleted_at).not.toBeNull();
  expect(await Promise.all([before, after, kept].map((run) => statusOf(run.id, mine)))).toEqual([404, 404, 200]);
  expect((await call("GET", `/feedback/${feedback.json.id}`, undefined, mine)).status).toBe(200);
  expect((await call("GET", `/datasets/${dataset.json.id}`, undefined, mine)).status).toBe(200);
});

test("an erasure that is killed between a project and its runs spares a new project of the same id", async () => {
  const mine = workspace();
  const [before, after] = [pending("p"), pending("p")];
  await sendRuns(call, [before], mine);
  const id = await projectId("p", mine);
  await requestErasure({ session_id: id }, mine);
  at("projects-deleted", killed);
  await expect(pass()).rejects.toThrow("killed");
  expect((await call("POST", "/sessions", { id, name: "p" }, mine)).status).toBe(200);
  await sendRuns(call, [after], mine);
  await pass();
  await secondPass();
  expect(await Promise.all([before, after].map((run) => statusOf(run.id, mine)))).toEqual([404, 200]);
});

test("a hold placed in the middle of an erasure keeps everything that is not deleted yet", async () => {
  const mine = workspace();
  const tenant = mine["x-test-workspace"]!;
  await sql`
    insert into projects (project_id, tenant_id, name)
    select ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, ${tenant}, 'filler ' || n
    from generate_series(1, 49) n`;
  // projects are deleted by 50, in the order of their ids
  const [first, second] = [pending("first"), pending("second")];
  await sendRuns(call, [first], mine);
  await sendRuns(call, [second], mine);
  const feedback = await call("POST", "/feedback", { run_id: second.id, key: "k" }, mine);
  const id = await requestErasure({ workspace_id: tenant }, mine);
  let hold = "";
  at("deletion-batch", async () => void (hold = await placeHold(mine)), 3);
  await pass();
  expect(await readErasure(id, mine)).toMatchObject({ status: "pending", error: expect.stringContaining("case 9") });
  expect(await Promise.all([first, second].map((run) => statusOf(run.id, mine)))).toEqual([404, 200]);
  await projectId("second", mine);
  expect((await call("GET", `/feedback/${feedback.json.id}`, undefined, mine)).status).toBe(200);
  await call("PATCH", `/runs/${second.id}`, { outputs: { late: true } }, mine);
  expect((await call("GET", `/runs/${second.id}`, undefined, mine)).json.outputs).toEqual({ late: true });
  await release(hold, mine);
  await pass();
  expect(await statusOf(second.id, mine)).toBe(404);
  expect((await readErasure(id, mine)).status).toBe("deleted");
});

test("a hold of a project stops the erasure of the workspace before it", async () => {
  const mine = workspace();
  const run = pending("held");
  await sendRuns(call, [run], mine);
  const project = await projectId("held", mine);
  await requestErasure({ workspace_id: mine["x-test-workspace"] }, mine);
  at("deletion-batch", () => placeHold(mine, project), 2);
  await pass();
  expect(await statusOf(run.id, mine)).toBe(200);
  expect(await projectId("held", mine)).toBe(project);
});

test("a hold is answered when no batch that did not see it is in progress", async () => {
  const mine = workspace();
  const run = pending("p");
  await sendRuns(call, [run], mine);
  await requestErasure({ trace_ids: [run.id] }, mine);
  let placed: Promise<string> | undefined;
  at("deletion-begun", async () => {
    placed = placeHold(mine).then(async (id) => `${id} when the run is ${await statusOf(run.id, mine)}`);
    const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    await expect.poll(() => sql.unsafe(waiting)).toHaveLength(1);
  });
  await pass();
  expect(await placed).toContain("404");
});

test("a deletion by request that a hold overtakes gets 409, deletes nothing, and does not continue later", async () => {
  const mine = workspace();
  const run = pending("p");
  await sendRuns(call, [run], mine);
  const session_id = await projectId("p", mine);
  const requests: [string, string, object?][] = [
    ["DELETE", `/sessions/${session_id}`],
    ["DELETE", `/sessions?session_ids=${session_id}`],
    ["POST", "/runs/delete/traces", { session_id, trace_ids: [run.id] }],
    ["POST", "/runs/delete", { trace_ids: [run.id] }],
  ];
  for (const [method, path, body] of requests) {
    let hold = "";
    at("deletion-batch", async () => void (hold = await placeHold(mine, session_id)));
    const { status, text } = await call(method, path, body, mine);
    expect([path, status, text]).toEqual([path, 409, expect.stringMatching(/case 9.*Nothing was deleted/)]);
    await release(hold, mine);
  }
  await sql`update erasures set requested_at = now() - interval '2 minutes'`;
  await pass();
  expect(await statusOf(run.id, mine)).toBe(200);
});

test("datasets, examples and feedback obey a hold that is placed during their deletion", async () => {
  const mine = workspace();
  const dataset = (await call("POST", "/datasets", { name: "d" }, mine)).json.id as string;
  const example = (await call("POST", "/examples", { dataset_id: dataset, inputs: { a: 1 } }, mine)).json.id as string;
  const feedback = (await call("POST", "/feedback", { run_id: crypto.randomUUID(), key: "k" }, mine)).json.id as string;
  const requests: [string, string, object?][] = [
    ["DELETE", `/datasets/${dataset}`],
    ["DELETE", `/datasets?dataset_ids=${dataset}`],
    ["POST", "/v1/platform/datasets/examples/delete", { example_ids: [example], hard_delete: true }],
    ["DELETE", `/feedback/${feedback}`],
  ];
  for (const [method, path, body] of requests) {
    let hold = "";
    at("deletion-transaction", async () => void (hold = await placeHold(mine)));
    const { status, text } = await call(method, path, body, mine);
    expect([path, status, text]).toEqual([path, 409, expect.stringContaining("case 9")]);
    await release(hold, mine);
  }
  expect((await call("GET", `/examples/${example}`, undefined, mine)).status).toBe(200);
  expect((await call("GET", `/feedback/${feedback}`, undefined, mine)).status).toBe(200);
});

test("a hold placed in the middle of a retention sweep keeps the traces of its project, and the sweep goes on", async () => {
  const mine = workspace();
  // the runs expire for this sweep only, not for the platform's own, which begins a minute after its start
  const now = Date.now() + 5 * 86_400_000;
  const old = { start_time: microseconds(now - 31 * 86_400_000) };
  const runs = ["one", "two", "three"].map((project) => pending(project, old));
  for (const run of runs) await sendRuns(call, [run], mine);
  const ids = await Promise.all(["one", "two", "three"].map((name) => projectId(name, mine)));
  for (const id of ids) await call("PATCH", `/sessions/${id}`, { retention_days: 30 }, mine);
  // projects are swept in the order of their ids, which is that of their creation
  at("deletion-batch", () => placeHold(mine, ids[1]), 2);
  const sweep = new RetentionSweep({ ...deps, settings: readOptions(traceOptions, {}) });
  // none while the platform itself sweeps
  await expect.poll(() => sweep.sweep(now)).toBe(2);
  expect(await Promise.all(runs.map((run) => statusOf(run.id, mine)))).toEqual([404, 200, 404]);
});
