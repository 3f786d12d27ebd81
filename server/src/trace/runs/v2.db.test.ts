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
