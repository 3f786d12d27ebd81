import { expect, test } from "vitest";

import { uuid7 } from "../../base/ids.ts";
import { microseconds, sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";

const { call, platform } = await testTracePlatform();
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const TENANT = "00000000-0000-7000-8000-000000000001";

const projectId = (name: string) => platform.deps.projects.ensureProject(TENANT, name);

/** Returns the ids that a query finds, page by page. */
async function queryIds(body: object): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = null, pages = 0; pages < 50; pages++) {
    const { status, json, text } = await call("POST", "/runs/query", { ...body, cursor });
    if (status !== 200) throw new Error(text);
    found.push(...json.runs.map((run: SampleRun) => run.id));
    cursor = json.cursors.next;
    if (cursor === null) return found;
  }
  throw new Error("the pages have no end");
}

test("a run is returned as sent, with its derived fields", async () => {
  const root = sampleRun("whole", {
    name: "agent",
    inputs: { text: 'quo"te', list: [1, { a: null }] },
    extra: { metadata: { user: "u1", session_id: "thread 1" }, runtime: { sdk: "x" } },
    tags: ["a", "b c"],
    events: [{ name: "start", time: "2026-10-01T00:00:00Z" }],
  });
  const child = sampleRun(
    "whole",
    {
      run_type: "llm",
      outputs: { usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7, total_cost: 0.000001 } },
    },
    { parent: root, seconds: 2 },
  );
  await sendRuns(call, [root, child]);
  const session_id = await projectId("whole");

  const { status, json } = await call("GET", `/runs/${root.id}`);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    id: root.id,
    name: "agent",
    run_type: "chain",
    status: "success",
    session_id,
    trace_id: root.id,
    dotted_order: root.dotted_order,
    inputs: root["inputs"],
    outputs: { answer: 42 },
    extra: root["extra"],
    events: root["events"],
    tags: ["a", "b c"],
    error: null,
    parent_run_id: null,
    parent_run_ids: [],
    child_run_ids: [child.id],
    direct_child_run_ids: [child.id],
    thread_id: "thread 1",
    // usage of the whole trace
    total_tokens: 7,
    prompt_tokens: 3,
    completion_tokens: 4,
    total_cost: "0.000001",
    in_dataset: false,
    share_token: null,
    feedback_stats: null,
    trace_tier: "longlived",
    ttl_seconds: null,
  });
  // naive, six digits: clients compare it with the dotted order
  expect(json.start_time.replace(/[-:.]/g, "")).toBe(root.dotted_order.split("Z")[0]);
  expect(json.app_path).toContain(`/o/${TENANT}/projects/p/${session_id}/r/${root.id}`);

  const below = await call("GET", `/runs/${child.id}`);
  expect(below.json).toMatchObject({ parent_run_id: root.id, parent_run_ids: [root.id], total_tokens: 7 });
});

test("returns a client's JSON byte for byte", async () => {
  const run = sampleRun("raw");
  const text = JSON.stringify({ post: [run] }).replace('{"answer":42}', '{"n": 1.0, "big": 12345678901234567890}');
  expect((await call("POST", "/runs/batch", text)).status).toBe(202);
  expect((await call("GET", `/runs/${run.id}`)).text).toContain('"outputs":{"n": 1.0, "big": 12345678901234567890}');
});

test("pages have no gaps, newest or oldest first, whatever is selected", async () => {
  const runs = Array.from({ length: 250 }, (_, i) => sampleRun("pages", { name: i % 50 === 0 ? "rare" : "usual" }));
  await sendRuns(call, runs);
  const session = [await projectId("pages")];
  const ids = runs.map((run) => run.id);
  expect(await queryIds({ session, limit: 99, select: ["id"] })).toEqual(ids.toReversed());
  expect(await queryIds({ session, limit: 99, order: "asc" })).toEqual(ids);
  const rare = ids.filter((_, i) => i % 50 === 0);
  expect(await queryIds({ session, limit: 2, filter: 'eq(name,"rare")' })).toEqual(rare.toReversed());
  expect(await queryIds({ session, limit: 2, filter: 'eq(name,"rare")', order: "asc" })).toEqual(rare);
});

test("runs with equal start times are neither lost nor repeated between pages", async () => {
  const start_time = "2026-10-20T00:00:00.000000Z";
  const runs = Array.from({ length: 30 }, () => sampleRun("ties", { start_time }));
  await sendRuns(call, runs);
  const session = [await projectId("ties")];
  for (const order of ["asc", "desc"]) {
    const found = await queryIds({ session, limit: 7, order });
    expect(found).toHaveLength(30);
    expect(new Set(found)).toEqual(new Set(runs.map((run) => run.id)));
  }
});

test("each condition of a query selects its runs", async () => {
  const example = uuid7();
  const [a, b] = [
    sampleRun("conditions"),
    sampleRun("conditions", { error: "Error: no", reference_example_id: example }),
  ];
  const tool = sampleRun("conditions", { run_type: "tool", tags: ["t"] }, { parent: a });
  const open = sampleRun("conditions", { start_time: microseconds(Date.now()) }, { seconds: null });
  await sendRuns(call, [a, b, tool, open]);
  const session = [await projectId("conditions")];
  const all = [open.id, tool.id, b.id, a.id].toSorted();
  const found = async (body: object) => (await queryIds({ session, ...body })).toSorted();

  expect(await found({})).toEqual(all);
  expect(await found({ is_root: true })).toEqual([a.id, b.id, open.id].toSorted());
  expect(await found({ is_root: false })).toEqual([tool.id]);
  expect(await found({ execution_order: 1 })).toEqual([a.id, b.id, open.id].toSorted());
  expect(await found({ error: true })).toEqual([b.id]);
  expect(await found({ error: false })).toEqual([a.id, tool.id, open.id].toSorted());
  expect(await found({ run_type: "tool" })).toEqual([tool.id]);
  expect(await found({ parent_run: a.id })).toEqual([tool.id]);
  expect(await found({ trace: a.id })).toEqual([a.id, tool.id].toSorted());
  expect(await found({ id: [b.id, a.id, uuid7()] })).toEqual([a.id, b.id].toSorted());
  expect(await found({ id: b.id })).toEqual([b.id]);
  expect(await found({ reference_example: example })).toEqual([b.id]);
  expect(await found({ start_time: b.start_time })).toEqual([b.id, tool.id, open.id].toSorted());
  expect(await found({ end_time: a.start_time })).toEqual([a.id]);
  expect(await found({ start_time: Date.parse(open.start_time) })).toEqual([open.id]);
  expect(await found({ filter: 'eq(status,"pending")' })).toEqual([open.id]);
  expect(await found({ filter: 'has(tags,"t")' })).toEqual([tool.id]);
  // on the root of the run's trace, and on any run of it
  expect(await found({ trace_filter: `eq(id,"${a.id}")` })).toEqual([a.id, tool.id].toSorted());
  expect(await found({ trace_filter: 'has(tags,"t")' })).toEqual([]);
  expect(await found({ tree_filter: 'has(tags,"t")' })).toEqual([a.id, tool.id].toSorted());
  expect(await found({ tree_filter: 'has(tags,"t")', is_root: true })).toEqual([a.id]);
  expect(await found({ query: `of ${open.id}` })).toEqual([open.id]);
  expect(await found({ search_filter: 'search("NO")', run_type: "chain", error: true })).toEqual([b.id]);
});

test("a filter uses the displayed tier and tokens of runs without their own", async () => {
  const ids: Record<string, string[]> = {};
  for (const [session, trace_tier] of Object.entries({ "tier usual": undefined, "tier short": "shortlived" })) {
    await call("POST", "/sessions", { name: session, ...(trace_tier && { trace_tier }) });
    const run = sampleRun(session);
    await sendRuns(call, [run]);
    ids[session] = [run.id];
  }
  const [usual, short] = await Promise.all(
    Object.keys(ids).map(async (name) => (await call("GET", `/sessions?name=${encodeURIComponent(name)}`)).json[0].id),
  );
  const found = async (filter: string, session = [usual, short]) => {
    const { json } = await call("POST", "/runs/query", { session, filter });
    return json.runs.map((run: { id: string }) => run.id).sort();
  };
  expect(await found('eq(trace_tier, "longlived")')).toEqual(ids["tier usual"]);
  expect(await found('not(neq(trace_tier, "shortlived"))')).toEqual(ids["tier short"]);
  expect(await found('in(trace_tier, ["longlived", "shortlived"])')).toHaveLength(2);
  const { json } = await call("POST", "/runs/stats", {
    session: [usual, short],
    filter: 'eq(trace_tier, "longlived")',
  });
  expect(json.run_count).toBe(1);
  const v2 = await call("POST", "/api/v2/runs/query", { project_ids: [short], filter: 'eq(trace_tier, "longlived")' });
  expect(v2.json.items).toEqual([]);
  for (const [id, count] of [
    [usual, 1],
    [short, 0],
  ]) {
    const query = new URLSearchParams({ include_stats: "true", stats_filter: 'eq(trace_tier, "longlived")', id });
    expect((await call("GET", `/sessions?${query}`)).json[0]).toMatchObject({ id, run_count: count });
  }
  expect(await found("gt(total_tokens, -1)")).toHaveLength(2);
  expect(await found("eq(total_tokens, 0)", [usual])).toEqual(ids["tier usual"]);
  expect(await found("neq(total_tokens, null)")).toEqual([]);
});

test("a trace is returned completely, whatever its number of runs", async () => {
  const root = sampleRun("long trace");
  const children = Array.from({ length: 1200 }, () => sampleRun("long trace", {}, { parent: root }));
  await sendRuns(call, [root, ...children]);
  const { json } = await call("POST", "/runs/query", { trace: root.id, limit: 10, order: "asc", select: ["id"] });
  expect(json.runs.map((run: SampleRun) => run.id)).toEqual([root.id, ...children.map((run) => run.id)]);
  expect(json.cursors.next).toBeNull();
});

test("returns only selected fields, and those that the clients' models need", async () => {
  const usage_metadata = {
    input_tokens: 3,
    output_tokens: 4,
    input_token_details: { cache_read: 2 },
    output_token_details: { reasoning: 1 },
    input_cost: 0.5,
    input_cost_details: { cache_read: 0.25 },
    output_cost_details: { reasoning: 0.125 },
  };
  const run = sampleRun("select", { run_type: "llm", outputs: { usage_metadata } });
  const form = new FormData();
  const json = (value: object) => {
    const text = JSON.stringify(value);
    return new Blob([text], { type: `application/json; length=${Buffer.byteLength(text)}` });
  };
  form.append(`post.${run.id}`, json(run));
  form.append(`attachment.${run.id}.notes`, new Blob(["kept"], { type: "text/plain; length=4" }));
  const encoded = new Request("http://t", { method: "POST", body: form });
  const type = { "Content-Type": encoded.headers.get("content-type")! };
  const sent = await call("POST", "/runs/multipart", new Uint8Array(await encoded.arrayBuffer()), type);
  expect(sent.status).toBe(202);
  const { runs } = (await call("POST", "/runs/query", { id: [run.id], select: ["inputs_preview", "tags"] })).json;
  expect(Object.keys(runs[0]).toSorted()).toEqual(
    (
      "app_path completion_cost_details completion_token_details dotted_order id inputs_preview name " +
      "prompt_cost_details prompt_token_details run_type s3_urls session_id start_time status tags trace_id"
    ).split(" "),
  );
  const always = {
    s3_urls: { "attachment.notes": { mime_type: "text/plain" } },
    prompt_token_details: { cache_read: 2 },
    completion_token_details: { reasoning: 1 },
    prompt_cost_details: { cache_read: "0.25" },
    completion_cost_details: { reasoning: "0.125" },
  };
  expect(runs[0]).toMatchObject(always);
  // also without a selection, and within a trace
  for (const query of [{ id: [run.id] }, { trace: run.id, select: ["name"] }]) {
    expect((await call("POST", "/runs/query", query)).json.runs[0]).toMatchObject(always);
  }
});

test("a patch in a later request becomes part of the run", async () => {
  const run = sampleRun("patched", { start_time: microseconds(Date.now()) }, { seconds: null });
  await sendRuns(call, [run]);
  expect((await call("GET", `/runs/${run.id}`)).json).toMatchObject({ status: "pending", end_time: null });
  const patch = { end_time: run.start_time.replace("Z", "+00:00"), outputs: { done: true }, error: "Error: late" };
  expect((await call("PATCH", `/runs/${run.id}`, patch)).status).toBe(202);
  const { json } = await call("GET", `/runs/${run.id}`);
  expect(json).toMatchObject({ status: "error", outputs: { done: true }, inputs: run["inputs"] });
});

test("a run of which only the end arrived is found by the type that it is shown with", async () => {
  const { id, trace_id, dotted_order, end_time } = sampleRun("only ended");
  await call("POST", "/runs/batch", { patch: [{ id, trace_id, dotted_order, end_time, session_name: "only ended" }] });
  const session = [await projectId("only ended")];
  expect((await call("POST", "/runs/query", { session })).json.runs).toMatchObject([{ id, run_type: "chain" }]);
  for (const wanted of [{ run_type: "chain" }, { filter: 'eq(run_type, "chain")' }]) {
    expect(await queryIds({ session, ...wanted })).toEqual([id]);
  }
  expect(await queryIds({ session, filter: 'neq(run_type, "chain")' })).toEqual([]);
  const grouped = { session, group_by: { attribute: "run_type" }, select: ["run_count"] };
  expect((await call("POST", "/runs/stats", grouped)).json).toEqual({ chain: { run_count: 1 } });
});

test("rejects an invalid query with the position or field", async () => {
  const ask = (body: object) => call("POST", "/api/v1/runs/query", body);
  expect(await ask({ filter: "eq(name, x)" })).toMatchObject({
    status: 400,
    json: { detail: expect.stringContaining("at character 9") },
  });
  expect((await ask({ tree_filter: "and(" })).status).toBe(400);
  expect((await ask({ cursor: "nonsense" })).status).toBe(400);
  expect((await ask({ select: ["nonsense"] })).status).toBe(422);
  expect((await ask({ start_time: "yesterday" })).status).toBe(422);
  expect((await ask({ limit: 0 })).status).toBe(422);
  expect((await ask({ limit: 5000 })).status).toBe(200);
  expect((await ask({ session: [uuid7()] })).status).toBe(404);
  expect((await call("GET", `/runs/${uuid7()}`)).status).toBe(404);
  expect((await call("GET", "/runs/x")).status).toBe(422);
});

test("expressions can be validated without running them", async () => {
  const check = async (body: object) => (await call("POST", "/runs/query/validate", body)).json;
  expect(await check({ filter: "eq(is_root, true)" })).toEqual({ valid: true, errors: [] });
  expect(await check({ filter: "eq(is_root)", trace_filter: "x" })).toEqual({
    valid: false,
    errors: [
      { field: "filter", message: expect.stringContaining("character 0") },
      { field: "trace_filter", message: expect.stringContaining("character 0") },
    ],
  });
});

test("another workspace sees no runs", async () => {
  const run = sampleRun("mine");
  await sendRuns(call, [run]);
  const session = [await projectId("mine")];
  expect((await call("GET", `/runs/${run.id}`, undefined, OTHER)).status).toBe(404);
  expect((await call("POST", "/runs/query", { session }, OTHER)).status).toBe(404);
  for (const body of [{ id: [run.id] }, { trace: run.id }, { parent_run: run.id }, {}]) {
    expect((await call("POST", "/runs/query", body, OTHER)).json.runs).toEqual([]);
  }
});

/** Sends traces of one model call each; the root has no usage of its own. */
async function sendCalls(
  project: string,
  calls: { name: string; seconds: number; usage?: object; firstToken?: number }[],
) {
  const runs = calls.flatMap(({ name, seconds, usage, firstToken }, index) => {
    const start = Date.now() - 60_000 + index * 1000;
    const root = sampleRun(project, { name, start_time: microseconds(start) }, { seconds });
    const call = sampleRun(
      project,
      {
        name,
        run_type: "llm",
        start_time: microseconds(start),
        ...(usage && { outputs: { usage_metadata: usage } }),
        ...(firstToken !== undefined && {
          events: [{ name: "new_token", time: new Date(start + firstToken).toISOString() }],
        }),
      },
      { parent: root, seconds },
    );
    return [root, call];
  });
  await sendRuns(call, runs);
  return projectId(project);
}

const usageOf = (tokens: number, cost?: number) => ({
  input_tokens: tokens,
  output_tokens: 0,
  total_tokens: tokens,
  ...(cost !== undefined && { total_cost: cost }),
});

async function queryNames(body: object): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = null; ;) {
    const { status, json, text } = await call("POST", "/runs/query", { select: ["name"], ...body, cursor });
    if (status !== 200) throw new Error(text);
    names.push(...json.runs.map((run: SampleRun) => run["name"]));
    cursor = json.cursors.next;
    if (cursor === null) return names;
  }
}

test("runs are sorted by a metric over all pages, those without a value last", async () => {
  const session = await sendCalls("sorted", [
    { name: "a", seconds: 3, usage: usageOf(5, 0.5), firstToken: 40 },
    { name: "b", seconds: 1, usage: usageOf(50, 0.25), firstToken: 10 },
    { name: "c", seconds: 2 },
    { name: "d", seconds: 2, usage: usageOf(20, 0.25), firstToken: 900 },
  ]);
  const roots = { session, is_root: true };
  const calls = { session, run_type: "llm" };
  for (const limit of [1, 2, 100]) {
    const sorted = (order_by: string, order: string, body: object = roots) =>
      queryNames({ ...body, limit, order_by, order });
    // equal values: the newest first
    expect(await sorted("latency", "desc")).toEqual(["a", "d", "c", "b"]);
    expect(await sorted("latency", "asc")).toEqual(["b", "d", "c", "a"]);
    expect(await sorted("total_cost", "desc")).toEqual(["a", "d", "b", "c"]);
    expect(await sorted("total_cost", "asc")).toEqual(["d", "b", "a", "c"]);
    expect(await sorted("total_cost", "desc", calls)).toEqual(["a", "d", "b", "c"]);
    expect((await sorted("total_tokens", "desc")).slice(0, 3)).toEqual(["b", "d", "a"]);
    expect(await sorted("first_token", "desc", calls)).toEqual(["d", "a", "b", "c"]);
  }
  const names: string[] = [];
  for (let cursor: string | undefined; ;) {
    const body = {
      project_ids: [session],
      is_root: true,
      order_by: "total_cost",
      page_size: 2,
      selects: ["NAME"],
      cursor,
    };
    const { json } = await call("POST", "/v2/runs/query", body);
    names.push(...json.items.map((item: { name: string }) => item.name));
    cursor = json.next_cursor;
    if (cursor === undefined) break;
  }
  expect(names).toEqual(["a", "d", "b", "c"]);
  const first = await call("POST", "/runs/query", { ...roots, order_by: "latency", limit: 1 });
  const { cursor } = { cursor: first.json.cursors.next };
  expect((await call("POST", "/runs/query", { ...roots, order_by: "total_cost", cursor })).status).toBe(400);
  expect((await call("POST", "/runs/query", { ...roots, cursor })).status).toBe(400);
  for (const order_by of ["status", "feedback:", `feedback:${"k".repeat(201)}`]) {
    expect((await call("POST", "/runs/query", { ...roots, order_by })).status).toBe(422);
  }
});

test("runs are sorted by name without regard to case, and by the mean of a feedback", async () => {
  const session = await sendCalls("sorted by words", [
    { name: "beta", seconds: 1 },
    { name: "Alpha", seconds: 1 },
    { name: "γάμμα".repeat(200), seconds: 1 },
    { name: "beta", seconds: 2 },
  ]);
  const roots = { session, is_root: true };
  const { json } = await call("POST", "/runs/query", { ...roots, order: "asc", select: ["id"] });
  const [one, two, three] = json.runs.map((run: { id: string }) => run.id);
  const judge = (run_id: string, score: number | null, key = "helpful: yes?") =>
    call("POST", "/feedback", { run_id, key, score, ...(score === null && { value: "none" }) });
  for (const [id, score] of [
    [one, 0.5],
    [one, 1],
    [two, 0.25],
    [three, null],
  ] as const)
    await judge(id, score);
  await judge(three, 9, "other");
  await until(async () => {
    const { json: stats } = await call("POST", "/runs/stats", { session: [session] });
    return Object.keys((stats.feedback_stats ?? {}) as object).length === 2 && stats.feedback_stats.other.n === 1;
  });
  for (const limit of [1, 3, 100]) {
    const ids = async (order_by: string, order: string) => {
      const found: string[] = [];
      for (let cursor: string | null = null; ;) {
        const page = await call("POST", "/runs/query", { ...roots, select: ["id"], limit, order_by, order, cursor });
        expect(page.status).toBe(200);
        found.push(...page.json.runs.map((run: { id: string }) => run.id));
        cursor = page.json.cursors.next;
        if (cursor === null) return found;
      }
    };
    const [a, b, c, d] = json.runs.map((run: { id: string }) => run.id);
    expect(await ids("name", "asc")).toEqual([b, d, a, c]);
    expect(await ids("name", "desc")).toEqual([c, d, a, b]);
    expect(await ids("feedback:helpful: yes?", "desc")).toEqual([a, b, d, c]);
    expect(await ids("feedback:helpful: yes?", "asc")).toEqual([b, a, d, c]);
  }
});

test("pages sorted by cost neither miss nor repeat a trace under ties, while others arrive", async () => {
  const session = await sendCalls(
    "tied",
    Array.from({ length: 12 }, (_, i) => ({ name: `t${i}`, seconds: 1, usage: usageOf(5, 0.1 + (i % 3) / 10) })),
  );
  const body = { session, is_root: true, select: ["name"], limit: 5, order_by: "total_cost" };
  const names: string[] = [];
  for (let cursor: string | null = null, page = 0; ; page++) {
    const { json } = await call("POST", "/runs/query", { ...body, cursor });
    names.push(...json.runs.map((run: SampleRun) => run["name"]));
    cursor = json.cursors.next;
    if (cursor === null) break;
    // equal to those of the page, dearer and cheaper
    const usages = [0.1, 0.2, 0.3, 0.5].map((cost) => ({ name: `late ${page}`, seconds: 1, usage: usageOf(5, cost) }));
    await sendCalls("tied", usages);
  }
  expect(new Set(names.filter((name) => name.startsWith("t"))).size).toBe(12);
  expect(names.filter((name) => name.startsWith("t"))).toHaveLength(12);
});

test("filters on tokens and costs mean what rows show: of a root, the sums of its trace", async () => {
  const session = await sendCalls("shown usage", [
    { name: "cheap", seconds: 1, usage: usageOf(5, 0.01) },
    { name: "dear", seconds: 1, usage: usageOf(50, 0.255) },
    { name: "free", seconds: 1 },
  ]);
  const names = async (filter: string, more: object = { is_root: true }) =>
    (await queryNames({ session, filter, ...more })).toSorted();
  expect(await names("gt(total_cost, 0.05)")).toEqual(["dear"]);
  expect(await names("gte(total_tokens, 5)")).toEqual(["cheap", "dear"]);
  expect(await names("lt(total_tokens, 50)")).toEqual(["cheap", "free"]);
  expect(await names("eq(total_cost, null)")).toEqual(["free"]);
  expect(await names("neq(total_cost, 0.255)")).toEqual(["cheap", "free"]);
  expect(await names("not(gt(total_cost, 0.05))")).toEqual(["cheap", "free"]);
  // other runs count for themselves
  expect(await names("gt(total_cost, 0.05)", {})).toEqual(["dear", "dear"]);
  expect(await names("gt(total_cost, 0.05)", { run_type: "llm" })).toEqual(["dear"]);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  expect(await names("gt(total_cost, 0.05)", { is_root: true, start_time: since })).toEqual(["dear"]);
  expect(await queryNames({ session, is_root: true, trace_filter: "gt(total_cost, 0.05)" })).toEqual(["dear"]);
  const stats = await call("POST", "/runs/stats", {
    session: [session],
    is_root: true,
    filter: "gt(total_cost, 0.05)",
  });
  expect(stats.json.run_count).toBe(1);
});

test("a filter on a root's cost counts calls beyond the time range, in lists, statistics, groups and v2", async () => {
  const start = Date.now() - 120_000;
  const roots = [0.03, 0.01].map((cost, index) => {
    const fields = { name: `cost ${cost}`, extra: { metadata: { thread_id: `thread ${cost}` } } };
    const root = sampleRun("bounded", { ...fields, start_time: microseconds(start + index) }, { seconds: 90 });
    // neither call passes the filter alone, and both begin after the range
    const calls = [30, 60].map((seconds) =>
      sampleRun(
        "bounded",
        {
          run_type: "llm",
          start_time: microseconds(start + seconds * 1000),
          outputs: { usage_metadata: usageOf(10, cost) },
        },
        { parent: root, seconds: 1 },
      ),
    );
    return [root, ...calls];
  });
  await sendRuns(call, roots.flat());
  const session = await projectId("bounded");
  const filter = "gt(total_cost, 0.05)";
  const bounds = { start_time: microseconds(start - 1000), end_time: microseconds(start + 1000) };
  const body = { session, is_root: true, ...bounds };
  expect(await queryNames({ ...body, filter })).toEqual(["cost 0.03"]);
  expect(await queryNames({ ...body, order_by: "total_cost" })).toEqual(["cost 0.03", "cost 0.01"]);
  expect((await call("POST", "/runs/stats", { ...body, session: [session], filter })).json).toMatchObject({
    run_count: 1,
  });
  const grouped = await call("POST", "/runs/group", {
    session_id: session,
    group_by: "conversation",
    filter,
    ...bounds,
  });
  expect(grouped.json).toMatchObject({ total: 1, groups: [{ thread_id: "thread 0.03", total_cost: 0.06 }] });
  const v2 = { min_start_time: bounds.start_time, max_start_time: bounds.end_time };
  const runs = await call("POST", "/v2/runs/query", {
    project_ids: [session],
    is_root: true,
    filter,
    selects: ["NAME"],
    ...v2,
  });
  expect(runs.json.items).toMatchObject([{ name: "cost 0.03" }]);
  const traces = await call("POST", "/v2/traces/query", {
    project_id: session,
    trace_filter: filter,
    selects: ["NAME"],
    ...v2,
  });
  expect(traces.json.items).toMatchObject([{ root_run: { name: "cost 0.03" } }]);
});

test("heads that stand in for a root in several projects have the sums of all of them, on whatever page", async () => {
  const usage = (tokens: number) => ({ outputs: { usage_metadata: { input_tokens: tokens, output_tokens: 0 } } });
  const missing = sampleRun("apart-a");
  const first = sampleRun("apart-a", { run_type: "llm", ...usage(3) }, { parent: missing });
  const start_time = microseconds(Date.parse(first.start_time) + 600_000);
  const second = sampleRun("apart-b", { run_type: "llm", start_time, ...usage(4) }, { parent: missing });
  await sendRuns(call, [first, second]);
  const session = await Promise.all(["apart-a", "apart-b"].map(projectId));
  const heads = { session, is_root: true, include_provisional_roots: true, order: "asc" };
  const list = async (page: object) => (await call("POST", "/runs/query", { ...heads, ...page })).json;
  const totals = ({ runs }: { runs: SampleRun[] }) => runs.map((run) => [run.id, run["total_tokens"]]);
  const all = [first, second].map(({ id }) => [id, 7]);
  expect(totals(await list({ limit: 100 }))).toEqual(all);
  const page = await list({ limit: 1 });
  expect([...totals(page), ...totals(await list({ limit: 1, cursor: page.cursors.next }))]).toEqual(all);
});

test("the sums of a trace in several projects do not depend on the page of its head", async () => {
  const usage = (tokens: number) => ({
    run_type: "llm",
    outputs: { usage_metadata: { input_tokens: tokens, output_tokens: 0, total_tokens: tokens } },
  });
  const root = sampleRun("spread-a");
  const here = sampleRun("spread-a", usage(3), { parent: root, seconds: 1 });
  const there = sampleRun("spread-b", usage(4), { parent: root, seconds: 2 });
  await sendRuns(call, [root, here, there]);
  const session = await Promise.all(["spread-a", "spread-b"].map(projectId));
  const tokens = async (body: object): Promise<number[]> => {
    const { json } = await call("POST", "/runs/query", { session, filter: "gte(latency, 0)", order: "asc", ...body });
    return json.runs.filter((run: SampleRun) => run.id === root.id).map((run: SampleRun) => run["total_tokens"]);
  };
  expect(await tokens({ limit: 100 })).toEqual([7]);
  expect(await tokens({ limit: 1 })).toEqual([7]);
  expect(await tokens({ limit: 1, session: [session[0]!] })).toEqual([3]);
  const project_ids = session;
  const { json } = await call("POST", "/v2/runs/query", {
    ...{ project_ids, min_start_time: "2000-01-01T00:00:00Z", page_size: 1, order: "asc" },
    ...{ is_root: true, selects: ["ID", "TOTAL_TOKENS"] },
  });
  expect(json.items).toEqual([expect.objectContaining({ total_tokens: 7 })]);
});

test("a filter finds the run whose start is the time that was sent, as a number or a text", async () => {
  const times = [
    ...Array.from({ length: 20 }, (_, i) => 1_795_255_200_123 + i / 13),
    "2026-11-21T10:00:00.1234567891234Z",
    "2026-06-30T23:59:60Z",
    "2026-11-21T12:30:00,5+02:30",
  ];
  const ids = times.map(() => uuid7());
  const post = times.map((start_time, i) => ({
    id: ids[i],
    name: "t",
    run_type: "tool",
    session_name: "times",
    start_time,
  }));
  expect((await call("POST", "/runs/batch", { post })).status).toBe(202);
  const session = [await projectId("times")];
  for (const [i, time] of times.entries()) {
    const filter = `eq(start_time, ${JSON.stringify(time)})`;
    const { runs } = (await call("POST", "/runs/query", { session, filter })).json;
    expect([time, runs.map((run: { id: string }) => run.id)]).toEqual([time, [ids[i]]]);
  }
});
