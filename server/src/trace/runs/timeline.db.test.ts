import { expect, test } from "vitest";

import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";

const at = (minute: number) => `2026-10-01T10:${String(minute).padStart(2, "0")}:30.000000Z`;
const roots = [0, 0, 5, 14].map((minute, n) =>
  sampleRun(
    "timeline",
    {
      start_time: at(minute),
      extra: { metadata: { user: n < 3 ? "anna" : "ben" } },
      ...(n === 2 && { error: "Error: no" }),
    },
    { seconds: n + 1 },
  ),
);
const calls = roots.map((parent) =>
  sampleRun(
    "timeline",
    {
      run_type: "llm",
      start_time: parent.start_time,
      outputs: { usage_metadata: { input_tokens: 6, output_tokens: 4, total_tokens: 10, total_cost: 0.5 } },
    },
    { parent },
  ),
);
await sendRuns(call, [...roots, ...calls]);
await call("POST", "/feedback", { run_id: roots[0]!.id, key: "good", score: 1 });
await call("POST", "/feedback", { run_id: roots[1]!.id, key: "good", score: 0 });
const session = [await platform.deps.projects.ensureProject(TENANT, "timeline")];
const window = { session, start_time: "2026-10-01T10:00:00Z", end_time: "2026-10-01T11:00:00Z" };
const ask = async (body: object, headers = {}) =>
  await call("POST", "/runs/stats/timeline", { ...window, bucket_seconds: 300, is_root: true, ...body }, headers);

test("each bucket contains the statistics of runs that started in it", async () => {
  const { json } = await ask({});
  expect(json.bucket_seconds).toBe(300);
  expect(json.series).toHaveLength(1);
  expect(json.series[0]).toMatchObject({
    group: "",
    points: [
      {
        start: "2026-10-01T10:00:00.000Z",
        run_count: 2,
        error_rate: 0,
        latency_p50: 1.5,
        total_tokens: 20,
        total_cost: 1,
      },
      { start: "2026-10-01T10:05:00.000Z", run_count: 1, error_rate: 1, latency_p50: 3, total_tokens: 10 },
      { start: "2026-10-01T10:10:00.000Z", run_count: 1, error_rate: 0, latency_p50: 4, total_tokens: 10 },
    ],
  });
});

test("returns only selected statistics, also over all runs", async () => {
  const { json } = await ask({ is_root: undefined, run_type: "llm", select: ["run_count", "prompt_tokens"] });
  expect(json).toEqual({
    bucket_seconds: 300,
    series: [
      {
        group: "",
        points: [
          { start: "2026-10-01T10:00:00.000Z", run_count: 2, prompt_tokens: 12 },
          { start: "2026-10-01T10:05:00.000Z", run_count: 1, prompt_tokens: 6 },
          { start: "2026-10-01T10:10:00.000Z", run_count: 1, prompt_tokens: 6 },
        ],
      },
    ],
    feedback: [],
  });
});

test("groups series, those with the most runs first", async () => {
  const group_by = { attribute: "metadata", path: "user" };
  const { json } = await ask({ group_by, select: ["run_count"] });
  const counts = json.series.map(({ group, points }: { group: string; points: { run_count: number }[] }) => [
    group,
    points.map(({ run_count }) => run_count),
  ]);
  expect(counts).toEqual([
    ["anna", [2, 1]],
    ["ben", [1]],
  ]);
  const response = await ask({ group_by: { ...group_by, max_groups: 1 }, select: ["run_count"] });
  expect(response.json.series.map(({ group }: { group: string }) => group)).toEqual(["anna"]);
});

test("groups failed runs by the error name at the start of their error message", async () => {
  const errors = [
    "TimeoutError: slow",
    "ValueError('no')Traceback",
    "builtins.KeyError",
    "it broke: badly",
    "TimeoutError: x",
  ];
  const failed = errors.map((error) => sampleRun("error kinds", { start_time: at(1), error }, { seconds: 1 }));
  await sendRuns(call, [...failed, sampleRun("error kinds", { start_time: at(1) }, { seconds: 1 })]);
  const { json } = await ask({
    session: [await platform.deps.projects.ensureProject(TENANT, "error kinds")],
    group_by: { attribute: "error_kind", max_groups: 10 },
    select: ["run_count", "latency_p95"],
  });
  const kinds = json.series.map(({ group, points: [point] }: { group: string; points: { run_count: number }[] }) => [
    group,
    point!.run_count,
  ]);
  expect(kinds).toEqual([
    ["TimeoutError", 2],
    ["Error", 1],
    ["ValueError", 1],
    ["builtins.KeyError", 1],
  ]);
  expect(json.series[0].points[0].latency_p95).toBe(1);
});

test("counts runs by latency in logarithmic bins whose edges select the same runs", async () => {
  const histogram = async (field: string, more = {}) =>
    (await call("POST", "/runs/stats/histogram", { ...window, is_root: true, field, ...more })).json;
  const { bins } = await histogram("latency");
  // latencies of 1, 2, 3 and 4 seconds
  expect(bins.map(({ n }: { n: number }) => n)).toEqual([1, 1, 1, 1]);
  expect(bins[0].from).toBe(1);
  const [, second] = bins as { from: number; to: number }[];
  expect(second!.from).toBeLessThanOrEqual(2);
  expect(second!.to).toBeGreaterThan(2);
  const filter = `and(gte(latency, ${second!.from}), lt(latency, ${second!.to}))`;
  expect((await histogram("latency", { filter })).bins).toEqual([second]);
  const costs = await histogram("total_cost", { is_root: undefined, run_type: "llm" });
  expect(costs.bins).toEqual([{ from: 0.4217, to: 0.56234, n: 4 }]);
  // of the head of a trace, what the trace costs
  expect((await histogram("total_cost")).bins).toEqual(costs.bins);
  expect((await call("POST", "/runs/stats/histogram", { ...window, field: "size" })).status).toBe(422);
});

test("returns feedback by key", async () => {
  await expect
    .poll(async () => (await ask({ select: ["feedback_stats"] })).json.feedback)
    .toEqual([{ group: "", key: "good", points: [{ start: "2026-10-01T10:00:00.000Z", n: 2, avg: 0.5 }] }]);
});

test("returns no series without runs, 404 for another workspace, and rejects too many buckets", async () => {
  expect((await ask({ filter: 'eq(name,"nobody")' })).json.series).toEqual([]);
  expect((await ask({}, { "x-test-workspace": "00000000-0000-7000-8000-000000000002" })).status).toBe(404);
  const seconds = await ask({ start_time: "2026-01-01T00:00:00Z", bucket_seconds: 1 });
  expect([seconds.status, seconds.json.detail]).toEqual([422, expect.stringContaining("10000 buckets")]);
  expect((await ask({ bucket_seconds: 0 })).status).toBe(422);
  expect((await ask({ filter: "eq(" })).status).toBe(400);
});
