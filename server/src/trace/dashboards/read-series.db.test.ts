import { expect, test } from "vitest";

import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { readManySeries, readSeries } from "./read-series.ts";
import type { SeriesRequest } from "./series-request.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const DAY = Date.UTC(2026, 9, 5);
const HOUR = 3_600_000;

const tokens = (total: number, cost: number) => ({
  outputs: {
    usage_metadata: { input_tokens: total - 1, output_tokens: 1, total_tokens: total, total_cost: cost },
  },
});

// each hour a trace more than in the one before, the last of which fails; each has a model call
const roots = [0, 1, 2].flatMap((hour) =>
  Array.from({ length: hour + 1 }, (_, i) =>
    sampleRun(
      "series",
      {
        name: `agent ${i}`,
        start_time: microseconds(DAY + hour * HOUR + i * 60_000),
        tags: ["a", `t${i}`],
        extra: { metadata: { user: `u${i}`, thread_id: `thread ${i % 2}`, revision_id: `r${hour}` } },
        ...(i === hour && { error: "TimeoutError: slow" }),
      },
      { seconds: i + 1 },
    ),
  ),
);
const calls = roots.map((parent) =>
  sampleRun(
    "series",
    {
      run_type: "llm",
      start_time: parent.start_time,
      extra: { metadata: { ls_model_name: "m1" } },
      ...tokens(10, 0.1),
    },
    { parent, seconds: 0.5 },
  ),
);
await sendRuns(call, [...roots, ...calls]);
const project = await platform.deps.projects.ensureProject(TENANT, "series");
for (const [i, { id }] of roots.entries()) {
  await call("POST", "/feedback", { run_id: id, key: "helpful", score: i % 2, value: i % 2 === 0 ? "no" : "yes" });
}
await platform.deps.feedback.flush();

const base = {
  projects: [project],
  since: new Date(DAY),
  until: new Date(DAY + 4 * HOUR),
  stepSeconds: 3600,
  filters: { runs: "traces" },
} as const satisfies Partial<SeriesRequest>;
const values = async (request: Partial<SeriesRequest> & Pick<SeriesRequest, "metric">) =>
  (await readSeries(platform.deps, TENANT, { ...base, ...request })).map(({ at, group, value }) => [
    (at.getTime() - DAY) / HOUR,
    ...(group === null ? [] : [group]),
    value,
  ]);

test("counts, errors, latency, usage, threads and feedback of traces by hour", async () => {
  expect(await values({ metric: "run_count" })).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  expect(await values({ metric: "error_count" })).toEqual([
    [0, 1],
    [1, 1],
    [2, 1],
  ]);
  expect(await values({ metric: "latency_p50" })).toEqual([
    [0, 1],
    [1, 1.5],
    [2, 2],
  ]);
  expect(await values({ metric: "total_tokens" })).toEqual([
    [0, 10],
    [1, 20],
    [2, 30],
  ]);
  expect((await values({ metric: "total_cost" }))[2]).toEqual([2, 0.3]);
  expect(await values({ metric: "thread_count" })).toEqual([
    [0, 1],
    [1, 2],
    [2, 2],
  ]);
  expect(await values({ metric: "feedback_score_avg", feedback_key: "helpful" })).toEqual([
    [0, 0],
    [1, 0.5],
    [2, 2 / 3],
  ]);
  expect((await values({ metric: "feedback" }))[2]).toEqual([2, { n: 3, avg: 2 / 3, values: { no: 1, yes: 2 } }]);
  expect((await values({ metric: "latency_counts" }))[2]).toEqual([2, { "1": 1, "1.7783": 1, "2.3714": 1 }]);
});

test("groups by metadata, tag, model, revision and feedback, and all beyond the largest are one", async () => {
  const metric = "run_count";
  const day = { stepSeconds: 86_400 };
  const user = { attribute: "metadata", path: "user", max_groups: 1 } as const;
  expect(await values({ metric, ...day, group_by: user })).toEqual([
    [0, "(other)", 3],
    [0, "u0", 3],
  ]);
  // of all that are in other groups, not of each group
  expect(await values({ metric: "latency_p50", ...day, group_by: user })).toEqual([
    [0, "(other)", 2],
    [0, "u0", 1],
  ]);
  expect(await values({ metric, ...day, group_by: { attribute: "tag", max_groups: 2 } })).toContainEqual([0, "a", 6]);
  expect(await values({ metric, group_by: { attribute: "revision" } })).toEqual([
    [0, "r0", 1],
    [1, "r1", 2],
    [2, "r2", 3],
  ]);
  expect(
    await values({ metric: "total_cost", ...day, filters: { runs: "llm" }, group_by: { attribute: "model" } }),
  ).toEqual([[0, "m1", 0.6]]);
  const feedback = { attribute: "feedback", path: "helpful" } as const;
  expect(await values({ metric: "error_rate", ...day, group_by: feedback })).toEqual([
    [0, "no", 2 / 3],
    [0, "yes", 1 / 3],
  ]);
});

test("a filter selects what counts, and steps follow the time zone", async () => {
  expect(await values({ metric: "run_count", filters: { filter: 'eq(status, "error")' } })).toHaveLength(3);
  // a filter that requires roots counts traces
  expect((await values({ metric: "total_tokens", filters: { filter: "eq(is_root, true)" } }))[1]).toEqual([1, 20]);
  expect(await values({ metric: "run_count", stepSeconds: 86_400, offsetSeconds: 2 * 3600 })).toEqual([
    [-22, 3],
    [2, 3],
  ]);
  await expect(values({ metric: "run_count", stepSeconds: 1 })).rejects.toThrow(/more than 10000 steps/);
  await expect(values({ metric: "run_count", filters: { filter: "eq(" } })).rejects.toThrow();
});

test("several series are read at once, in their order", async () => {
  const requests = (["error_rate", "total_cost", "run_count", "feedback_count"] as const).map((metric) => ({
    ...base,
    metric,
    stepSeconds: 86_400,
  }));
  const series = await readManySeries(platform.deps, TENANT, requests);
  expect(series.map(([point]) => point!.value)).toEqual([0.5, 0.6, 6, 6]);
  const other = await readSeries(platform.deps, "00000000-0000-7000-8000-000000000002", {
    ...base,
    metric: "run_count",
  });
  expect(other).toEqual([]);
});

test("a filter that requires roots counts traces, also one whose root has not arrived", async () => {
  const missing = sampleRun("rootless", { start_time: microseconds(DAY) });
  const first = sampleRun("rootless", { start_time: microseconds(DAY + 1000) }, { parent: missing });
  const second = sampleRun("rootless", { start_time: microseconds(DAY + 2000) }, { parent: missing });
  await sendRuns(call, [first, second]);
  const projects = [await platform.deps.projects.ensureProject(TENANT, "rootless")];
  const count = (filters: SeriesRequest["filters"]) => values({ metric: "run_count", projects, filters });
  await expect.poll(() => count({ runs: "traces" })).toEqual([[0, 1]]);
  expect(await count({ filter: "eq(is_root, true)" })).toEqual([[0, 1]]);
  expect(await count({ filter: 'and(eq(is_root, true), eq(name, "other"))' })).toEqual([]);
});
