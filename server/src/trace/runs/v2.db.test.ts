import { expect, test } from "vitest";

import { uuid7 } from "../../base/ids.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const now = Date.now();
const at = (secondsAgo: number) => ({ start_time: microseconds(now - secondsAgo * 1000) });
const root = sampleRun(
  "two",
  { ...at(60), name: "agent", tags: ["x"], extra: { metadata: { user: "u" } } },
  { seconds: 2 },
);
const llm = sampleRun(
  "two",
  {
    ...at(59),
    run_type: "llm",
    outputs: {
      usage_metadata: {
        input_tokens: 3,
        output_tokens: 4,
        total_tokens: 7,
        total_cost: 0.25,
        input_token_details: { cache_read: 2 },
      },
    },
  },
  { parent: root },
);
const failed = sampleRun("two", { ...at(30), error: "Error: no" });
const old = sampleRun("two", { ...at(3 * 86_400) });
const open = sampleRun("two", at(10), { seconds: null });
await sendRuns(call, [root, llm, failed, old, open]);
const project_id = await platform.deps.projects.ensureProject(TENANT, "two");

const query = (body: object) => call("POST", "/api/v2/runs/query", { project_ids: [project_id], ...body });
const ids = async (body: object) => (await query(body)).json.items.map((run: { id: string }) => run.id);

test("returns ids of the last day's runs, unless a time or fields are named", async () => {
  expect((await query({})).json).toEqual({
    items: [{ id: open.id }, { id: failed.id }, { id: llm.id }, { id: root.id }],
    has_more: false,
  });
  expect(await ids({ min_start_time: "2020-01-01T00:00:00Z", sort_order: "ASC" })).toEqual([
    old.id,
    root.id,
    llm.id,
    failed.id,
    open.id,
  ]);
  expect(await ids({ max_start_time: root.start_time })).toEqual([root.id]);
  expect(await ids({ ids: [old.id, root.id] })).toEqual([root.id]);
});

test("each condition selects its runs", async () => {
  expect(await ids({ run_type: "LLM" })).toEqual([llm.id]);
  expect(await ids({ is_root: true, has_error: false })).toEqual([open.id, root.id]);
  expect(await ids({ has_error: true })).toEqual([failed.id]);
  expect(await ids({ trace_id: root.id })).toEqual([llm.id, root.id]);
  expect(await ids({ ids: [llm.id, uuid7()] })).toEqual([llm.id]);
  expect(await ids({ filter: 'has(tags,"x")' })).toEqual([root.id]);
  expect(await ids({ trace_filter: 'has(tags,"x")' })).toEqual([llm.id, root.id]);
  expect(await ids({ tree_filter: 'eq(run_type,"llm")', is_root: true })).toEqual([root.id]);
});

test("pages with a cursor", async () => {
  const first = (await query({ page_size: 3 })).json;
  expect(first).toMatchObject({ has_more: true });
  const second = (await query({ page_size: 3, cursor: first.next_cursor })).json;
  expect(second.items).toEqual([{ id: root.id }]);
  expect(second).not.toHaveProperty("next_cursor");
});

test("returns a run by id with the selected properties, under v2 names", async () => {
  const selects = [
    "ID",
    "NAME",
    "RUN_TYPE",
    "STATUS",
    "START_TIME",
    "END_TIME",
    "LATENCY_SECONDS",
    "IS_ROOT",
    "METADATA",
    "TAGS",
    "TOTAL_TOKENS",
    "TOTAL_COST",
    "INPUTS",
    "PROJECT_ID",
    "SHARE_URL",
    "ERROR",
  ];
  const read = (id: string) =>
    call("GET", `/v2/runs/${id}?project_id=${project_id}&${selects.map((select) => `selects=${select}`).join("&")}`);
  expect((await read(root.id)).json).toEqual({
    id: root.id,
    name: "agent",
    run_type: "CHAIN",
    status: "SUCCESS",
    start_time: root.start_time,
    end_time: microseconds(Date.parse(root.start_time) + 2000),
    latency_seconds: 2,
    is_root: true,
    metadata: { user: "u" },
    tags: ["x"],
    total_tokens: 7,
    total_cost: 0.25,
    inputs: root["inputs"],
    project_id,
  });
  expect((await read(open.id)).json).toMatchObject({ status: "PENDING", end_time: null });
  const details = await call("GET", `/v2/runs/${llm.id}?project_id=${project_id}&selects=PROMPT_TOKEN_DETAILS`);
  expect(details.json).toEqual({ prompt_token_details: { raw: { cache_read: 2 } } });
});

test("returns traces with their tokens and cost", async () => {
  const { json } = await call("POST", "/api/v2/traces/query", {
    project_id,
    trace_filter: 'eq(name,"agent")',
    selects: ["NAME"],
  });
  expect(json).toEqual({
    items: [
      { root_run: { name: "agent" }, trace_aggregates: { total_tokens: 7, total_cost: 0.25, first_token_time: null } },
    ],
    has_more: false,
  });
  const runs = await call("GET", `/api/v2/traces/${root.id}/runs?project_id=${project_id}&selects=ID`);
  expect(runs.json).toEqual({ items: [{ id: root.id }, { id: llm.id }] });
  const filtered = await call(
    "GET",
    `/api/v2/traces/${root.id}/runs?project_id=${project_id}&filter=${encodeURIComponent('eq(run_type,"llm")')}`,
  );
  expect(filtered.json).toEqual({ items: [{ id: llm.id }] });
});

test("returns the console's address of a run", async () => {
  const { json } = await call("GET", `/api/v2/runs/${llm.id}/url?project_id=${project_id}&trace_id=${root.id}`);
  expect(json.url).toContain(`http://localhost:3000/o/${TENANT}/projects/p/${project_id}/r/${llm.id}?`);
});

test("errors are problem documents", async () => {
  const wrong = await query({ filter: "eq(" });
  expect(wrong.headers.get("content-type")).toBe("application/problem+json");
  expect(wrong).toMatchObject({
    status: 400,
    json: {
      type: "about:blank",
      title: "Bad Request",
      status: 400,
      detail: expect.stringContaining("character 2"),
      instance: "/api/v2/runs/query",
    },
  });
  expect((await call("POST", "/v2/runs/query", {})).status).toBe(422);
  expect((await query({ selects: ["NONSENSE"] })).status).toBe(422);
  expect((await query({ page_size: 1001 })).status).toBe(422);
  expect((await call("GET", `/v2/runs/${uuid7()}?project_id=${project_id}`)).status).toBe(404);
  expect((await call("GET", `/v2/runs/${root.id}?project_id=${uuid7()}`)).status).toBe(404);
});

test("another workspace sees no runs", async () => {
  for (const [method, path, body] of [
    ["POST", "/v2/runs/query", { project_ids: [project_id] }],
    ["GET", `/v2/runs/${root.id}?project_id=${project_id}`],
    ["GET", `/v2/runs/${root.id}/url?project_id=${project_id}&trace_id=${root.id}`],
    ["POST", "/v2/traces/query", { project_id }],
    ["GET", `/v2/traces/${root.id}/runs?project_id=${project_id}`],
  ] as [string, string, object?][]) {
    expect((await call(method, path, body, OTHER)).status).toBe(404);
  }
});

test("streams a page as server-sent events on request", async () => {
  const window = { min_start_time: "2020-01-01T00:00:00Z" };
  for (const [path, body] of [
    ["/api/v2/runs/query", { project_ids: [project_id], ...window }],
    ["/api/v2/traces/query", { project_id, ...window }],
    ["/api/v2/threads/query", { project_id, ...window }],
  ] as const) {
    const page = (await call("POST", path, body)).json;
    const { text, headers } = await call("POST", path, body, { Accept: "text/event-stream" });
    expect(headers.get("content-type")).toBe("text/event-stream");
    const [data, end, ...rest] = text.split("\n\n");
    expect(data).toMatch(/^event: data\ndata: /);
    expect(JSON.parse(data!.slice("event: data\ndata: ".length))).toEqual([{ op: "add", path: "", value: page }]);
    expect([end, ...rest]).toEqual(["event: end\ndata: {}", ""]);
    expect((await call("POST", path, body, { Accept: "application/json, */*" })).json).toEqual(page);
  }
});

test("rejects conditions that it does not implement, instead of returning all runs", async () => {
  for (const name of ["ai_search", "sem_filter", "ai_query", "max_feedback_modified_at"]) {
    for (const [path, body] of [
      ["/api/v2/runs/query", { project_ids: [project_id] }],
      ["/api/v2/traces/query", { project_id }],
      ["/api/v2/threads/query", { project_id }],
    ] as const) {
      expect((await call("POST", path, { ...body, [name]: "x" })).status).toBe(422);
      expect((await call("POST", path, { ...body, [name]: null })).status).toBe(200);
    }
  }
});

test("includes the usage of subtrees on request", async () => {
  const top = sampleRun("subtrees", at(50));
  const middle = sampleRun("subtrees", at(49), { parent: top });
  const call_ = (seconds: number, tokens: number) =>
    sampleRun(
      "subtrees",
      {
        ...at(seconds),
        run_type: "llm",
        outputs: { usage_metadata: { input_tokens: tokens, output_tokens: 1, total_cost: 0.1 } },
        events: [{ name: "new_token", time: microseconds(now - seconds * 1000 + 500) }],
      },
      { parent: middle },
    );
  const [first, second] = [call_(48, 3), call_(47, 5)];
  await sendRuns(call, [top, middle, first, second]);
  const body = {
    project_ids: [await platform.deps.projects.ensureProject(TENANT, "subtrees")],
    selects: ["ID", "TOTAL_TOKENS", "PROMPT_TOKENS", "TOTAL_COST", "FIRST_TOKEN_TIME"],
    sort_order: "ASC",
  };
  const items = async (more: object) => (await call("POST", "/api/v2/runs/query", { ...body, ...more })).json.items;
  const [, own] = await items({});
  expect(own).toMatchObject({ id: middle.id });
  expect(own.total_tokens ?? 0).toBe(0);
  const enclosing = { total_tokens: 10, prompt_tokens: 8, total_cost: 0.2 };
  const found = await items({ include_subtree_usage: true });
  expect(found).toMatchObject([
    { id: top.id, ...enclosing },
    { id: middle.id, ...enclosing },
    { id: first.id, total_tokens: 4 },
    { id: second.id, total_tokens: 6 },
  ]);
  expect(found[1].first_token_time).toBe(found[2].first_token_time);
  // descendants outside of the conditions count too
  const narrow = await items({ include_subtree_usage: true, max_start_time: middle.start_time });
  expect(narrow[1]).toMatchObject(enclosing);
});
