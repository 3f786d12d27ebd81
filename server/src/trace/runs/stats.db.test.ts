import { expect, test } from "vitest";

import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const usage = (tokens: number, cost: number) => ({
  outputs: {
    usage_metadata: { input_tokens: tokens - 1, output_tokens: 1, total_tokens: tokens, total_cost: cost },
  },
});

// three traces of a chain and a model call each; the last chain repeats its model call's usage
const roots = [1, 2, 3].map((seconds) =>
  sampleRun(
    "stats",
    {
      name: `agent ${seconds % 2}`,
      tags: seconds === 1 ? ["x", "y"] : ["x"],
      extra: { metadata: { user: `u${seconds % 2}` } },
      ...(seconds === 2 && { error: "Error: no" }),
      ...(seconds === 3 && usage(30, 0.3)),
    },
    { seconds },
  ),
);
const calls = roots.map((parent, i) =>
  sampleRun("stats", { run_type: "llm", ...usage((i + 1) * 10, (i + 1) / 10) }, { parent, seconds: 0.5 }),
);
await sendRuns(call, [...roots, ...calls]);
const session = [await platform.deps.projects.ensureProject(TENANT, "stats")];
const stats = async (body: object) => (await call("POST", "/runs/stats", { session, ...body })).json;

test("statistics over all runs count each model call once", async () => {
  expect(await stats({})).toMatchObject({
    run_count: 6,
    total_tokens: 60,
    prompt_tokens: 57,
    completion_tokens: 3,
    total_cost: 0.6,
    error_rate: 1 / 6,
    latency_p50: 0.75,
    last_run_start_time: calls[2]!.start_time.slice(0, -1),
    streaming_rate: 0,
    feedback_stats: {},
  });
});

test("facets come with the filter that selects their runs", async () => {
  const { run_facets: facets } = await stats({ is_root: true, select: ["run_count", "run_facets"] });
  expect(facets).toContainEqual({ key: "name", value: "agent 1", n: 2, query: 'eq(name, "agent 1")' });
  expect(facets).toContainEqual({ key: "tags", value: "x", n: 3, query: 'has(tags, "x")' });
  expect(facets).toContainEqual({ key: "status", value: "error", n: 1, query: 'eq(status, "error")' });
  const user = { key: "user", value: "u1", n: 2 };
  const query = 'and(eq(metadata_key, "user"), eq(metadata_value, "u1"))';
  expect(facets).toContainEqual({ ...user, query });
  for (const facet of facets) {
    expect(await stats({ is_root: true, filter: facet.query })).toMatchObject({ run_count: facet.n });
  }
  for (const sort of ["", "&sort_by=runs_count"]) {
    const [project] = (await call("GET", `/sessions?name=stats&facets=true${sort}`)).json;
    expect(project.run_facets).toEqual(facets);
  }
});

test("a root run has the totals of its trace", async () => {
  expect(await stats({ is_root: true })).toMatchObject({
    run_count: 3,
    total_tokens: 60,
    total_cost: 0.6,
    median_tokens: 20,
    error_rate: 1 / 3,
    latency_p50: 2,
  });
  // the model call starts after the bound that applies to its root
  expect(await stats({ is_root: true, end_time: roots[0]!.start_time })).toMatchObject({
    run_count: 1,
    total_tokens: 10,
  });
});

test("a call whose clock is behind that of its root counts also where the bounds begin at the root", async () => {
  const root = sampleRun("skewed", {}, { seconds: 2 });
  const late = sampleRun("skewed", { run_type: "llm", ...usage(10, 0.1) }, { parent: root, seconds: 0.5 });
  const before = new Date(Date.parse(root.start_time) - 5000).toISOString();
  await sendRuns(call, [root, { ...late, start_time: before }]);
  const skewed = [await platform.deps.projects.ensureProject(TENANT, "skewed")];
  const bounded = { session: skewed, is_root: true, start_time: root.start_time };
  expect(await stats(bounded)).toMatchObject({ run_count: 1, total_tokens: 10, total_cost: 0.1 });
  const { runs } = (await call("POST", "/runs/query", bounded)).json;
  expect(runs).toMatchObject([{ id: root.id, total_tokens: 10 }]);
});

test("statistics can be filtered and selected", async () => {
  expect(await stats({ filter: 'eq(run_type,"llm")', select: ["run_count", "total_tokens"] })).toEqual({
    run_count: 3,
    total_tokens: 60,
  });
  expect(await stats({ filter: 'eq(name,"nobody")' })).toMatchObject({ run_count: 0 });
  expect((await call("POST", "/runs/stats", { session, filter: "eq(" })).status).toBe(400);
  expect((await call("POST", "/runs/stats", { session, select: ["nonsense"] })).status).toBe(422);
});

test("statistics can be grouped", async () => {
  const by = async (group_by: object, body = {}) => {
    const found = await stats({ is_root: true, group_by, select: ["run_count", "total_tokens"], ...body });
    return Object.fromEntries(
      Object.entries(found as Record<string, { run_count: number; total_tokens: number }>).map(([name, entry]) => [
        name,
        [entry.run_count, entry.total_tokens],
      ]),
    );
  };
  expect(await by({ attribute: "name" })).toEqual({ "agent 1": [2, 40], "agent 0": [1, 20] });
  expect(await by({ attribute: "tag" })).toEqual({ x: [3, 60], y: [1, 10] });
  expect(await by({ attribute: "metadata", path: "user" })).toEqual({ u1: [2, 40], u0: [1, 20] });
  expect(await by({ attribute: "name", max_groups: 1 })).toEqual({ "agent 1": [2, 40] });
  expect(await by({ attribute: "tag" }, { groups: ["y"] })).toEqual({ y: [1, 10] });
  expect((await call("POST", "/runs/stats", { session, group_by: { attribute: "metadata" } })).status).toBe(422);
});

test("statistics contain feedback on the counted runs, by key and by group", async () => {
  const give = (run_id: string, key: string, score: number) => call("POST", "/feedback", { run_id, key, score });
  await give(roots[0]!.id, "good", 1);
  await give(roots[1]!.id, "good", 0);
  await give(calls[0]!.id, "fast", 0.5);
  expect((await stats({})).feedback_stats).toMatchObject({
    good: { n: 2, avg: 0.5, min: 0, max: 1, errors: 0 },
    fast: { n: 1, avg: 0.5 },
  });
  expect(Object.keys((await stats({ is_root: true })).feedback_stats)).toEqual(["good"]);
  const grouped = await stats({ is_root: true, group_by: { attribute: "name" } });
  expect(grouped["agent 1"].feedback_stats).toMatchObject({ good: { n: 1, avg: 1 } });
});

test("values of feedback are counted as in lists: the most frequent fifty, also those that are no text", async () => {
  const root = sampleRun("labels");
  await sendRuns(call, [root]);
  const labels = Array.from({ length: 51 }, (_, n) => `a${String(n).padStart(2, "0")}`);
  for (const value of [...labels, "z", "z", true, true, true]) {
    await call("POST", "/feedback", { run_id: root.id, key: "label", value });
  }
  const project = await platform.deps.projects.ensureProject(TENANT, "labels");
  const listed = (await call("GET", `/runs/${root.id}`)).json.feedback_stats.label.values;
  expect(listed).toEqual({ true: 3, z: 2, ...Object.fromEntries(labels.slice(0, 48).map((label) => [label, 1])) });
  const { feedback_stats } = await stats({ session: [project] });
  expect(feedback_stats.label.values).toEqual(listed);
});

test("an embedding traced twice, by the caller and by its client, counts once", async () => {
  const outer = sampleRun("embedded", { run_type: "embedding", ...usage(9, 0.9) });
  const inner = sampleRun("embedded", { run_type: "embedding", ...usage(9, 0.9) }, { parent: outer });
  await sendRuns(call, [outer, inner]);
  expect((await call("GET", `/runs/${outer.id}`)).json).toMatchObject({ total_tokens: 9, total_cost: "0.9" });
});

test("statistics contain exact sums of usage details, and feedback on projects", async () => {
  const details = {
    input_token_details: { cache_read: 1, audio: 2 },
    output_token_details: { reasoning: 3 },
    input_cost_details: { cache_read: 0.1 },
    output_cost_details: { reasoning: "0.2" },
  };
  const outputs = { usage_metadata: { input_tokens: 4, output_tokens: 4, ...details } };
  const root = sampleRun("detailed", { outputs }, { seconds: 1 });
  const model = () => sampleRun("detailed", { run_type: "llm", outputs }, { parent: root, seconds: 0.5 });
  const alone = sampleRun("detailed", { name: "alone", outputs }, { seconds: 1 });
  await sendRuns(call, [root, model(), model(), model(), alone]);
  const project = await platform.deps.projects.ensureProject(TENANT, "detailed");
  const select = Object.keys(details).map((name) => name.replace("input", "prompt").replace("output", "completion"));
  const sums = async (body: object) => stats({ session: [project], select, ...body });
  // the chain repeats the details of its model calls; floats would add up to 0.30000000000000004
  const three = {
    prompt_token_details: { cache_read: 3, audio: 6 },
    completion_token_details: { reasoning: 9 },
    prompt_cost_details: { cache_read: 0.3 },
    completion_cost_details: { reasoning: 0.6 },
  };
  expect(await sums({})).toEqual(three);
  expect(await sums({ is_root: true })).toMatchObject({ prompt_cost_details: { cache_read: 0.4 } });
  const byName = await sums({ is_root: true, group_by: { attribute: "name" } });
  expect(byName[root.name as string]).toEqual(three);
  expect(byName["alone"]).toMatchObject({ completion_token_details: { reasoning: 3 } });

  await call("POST", "/feedback", { session_id: project, key: "whole", score: 1 });
  const feedback = await sums({ select: ["session_feedback_stats", "thread_feedback_stats"] });
  expect(feedback).toMatchObject({ session_feedback_stats: { whole: { n: 1, avg: 1 } }, thread_feedback_stats: {} });
  expect(await stats({ select: ["session_feedback_stats"] })).toEqual({ session_feedback_stats: {} });
});

test("statistics exclude other workspaces", async () => {
  expect((await call("POST", "/runs/stats", { session }, OTHER)).status).toBe(404);
  expect((await call("POST", "/runs/stats", {}, OTHER)).json).toMatchObject({ run_count: 0 });
});

test("a trace over two projects has its costs once, whichever of them its root is in", async () => {
  const root = sampleRun("spread", {}, { seconds: 2 });
  const near = sampleRun("spread", { run_type: "llm", ...usage(10, 1) }, { parent: root });
  const far = sampleRun("spread elsewhere", { run_type: "llm", ...usage(20, 2) }, { parent: root });
  await sendRuns(call, [root, near, far]);
  const projects = await Promise.all(
    ["spread", "spread elsewhere"].map((name) => platform.deps.projects.ensureProject(TENANT, name)),
  );
  const select = ["run_count", "total_cost", "total_tokens"];
  const heads = { is_root: true, include_provisional_roots: true, select };
  expect(await stats({ session: projects, ...heads })).toEqual({ run_count: 2, total_cost: 3, total_tokens: 30 });
  const each = await Promise.all(projects.map((project) => stats({ session: [project], ...heads })));
  expect(each.map(({ total_cost }) => total_cost)).toEqual([1, 2]);
  expect(await stats({ session: projects, select })).toEqual({ run_count: 3, total_cost: 3, total_tokens: 30 });
});

test("a run that LangGraph left on purpose is interrupted and no error, in statistics, filters and groups", async () => {
  const errors = [
    "GraphInterrupt((Interrupt(value='ok?'),))",
    '[\n  {\n    "value": "ok?"\n  }\n]\n\nGraphInterrupt: [\n  {\n    "value": "ok?"\n  }\n]\n    at node',
    "ValueError('no')",
  ];
  const runs = errors.map((error) => sampleRun("paused", { error, status: "error" }));
  await sendRuns(call, runs);
  const session = [await platform.deps.projects.ensureProject(TENANT, "paused")];
  expect(await stats({ session })).toMatchObject({ run_count: 3, error_rate: 1 / 3 });
  const found = async (body: object) =>
    (await call("POST", "/runs/query", { session, order: "asc", ...body })).json.runs.map(
      ({ id, status }: { id: string; status: string }) => [runs.findIndex((run) => run.id === id), status],
    );
  const paused = [
    [0, "interrupted"],
    [1, "interrupted"],
  ];
  expect(await found({ error: true })).toEqual([[2, "error"]]);
  expect(await found({ error: false })).toEqual(paused);
  expect(await found({ filter: 'eq(status, "error")' })).toEqual([[2, "error"]]);
  expect(await found({ filter: 'eq(status, "interrupted")' })).toEqual(paused);
  await call("PATCH", `/runs/${runs[0]!.id}`, { error: "Error: later" });
  expect(await stats({ session })).toMatchObject({ error_rate: 2 / 3 });
});

test("a run whose tracer says that it was stopped on purpose has that status, and did not fail", async () => {
  const runs = ["cancelled", "interrupted", "error"].map((status) =>
    sampleRun("stopped", { error: "CancelledError()", status }),
  );
  await sendRuns(call, runs);
  const session = [await platform.deps.projects.ensureProject(TENANT, "stopped")];
  expect(await stats({ session })).toMatchObject({ run_count: 3, error_rate: 1 / 3 });
  const statuses = async (body: object) =>
    (await call("POST", "/runs/query", { session, order: "asc", ...body })).json.runs.map(
      ({ status, error }: { status: string; error: string }) => `${status}: ${error}`,
    );
  expect(await statuses({ error: false })).toEqual(["cancelled: CancelledError()", "interrupted: CancelledError()"]);
  expect(await statuses({ filter: 'eq(status, "cancelled")' })).toEqual(["cancelled: CancelledError()"]);
  const v2 = await call("POST", "/api/v2/runs/query", {
    project_ids: session,
    min_start_time: runs[0]!.start_time,
    selects: ["STATUS"],
  });
  expect(v2.json.items.map(({ status }: { status: string }) => status).toSorted()).toEqual([
    "CANCELLED",
    "ERROR",
    "INTERRUPTED",
  ]);
});

test("a run that ends before it starts took no time, in values, statistics, filters and order", async () => {
  const early = sampleRun(
    "ended early",
    { events: [{ name: "new_token", time: "2020-01-01T00:00:00.000Z" }] },
    { seconds: -5 },
  );
  const usual = sampleRun("ended early", {}, { seconds: 2 });
  const open = sampleRun("ended early", {}, { seconds: null });
  await sendRuns(call, [early, usual, open]);
  const session = [await platform.deps.projects.ensureProject(TENANT, "ended early")];
  const select = ["run_count", "latency_p50", "first_token_p50"];
  expect(await stats({ session, select })).toEqual({ run_count: 3, latency_p50: 1, first_token_p50: 0 });
  const found = async (filter: string) => (await stats({ session, select: ["run_count"], filter })).run_count;
  expect(await found("lt(latency, 0)")).toBe(0);
  expect(await found("eq(latency, 0)")).toBe(1);
  const { items } = (
    await call("POST", "/api/v2/runs/query", {
      project_ids: session,
      ids: [early.id],
      min_start_time: early.start_time,
      selects: ["LATENCY_SECONDS"],
    })
  ).json;
  expect(items).toEqual([{ latency_seconds: 0 }]);
});
