import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const MINUTE = 60_000;
const now = Math.floor(Date.now() / MINUTE) * MINUTE;
const SERVERS = ["019a0000-0000-7000-8000-00000000000a", "019a0000-0000-7000-8000-00000000000b"];

const reading = (minutesAgo: number, kind: string, more: object) => ({
  minute: new Date(now - minutesAgo * MINUTE).toISOString(),
  kind,
  graph: "",
  assistant: "",
  status: "",
  count: 0,
  seconds: 0,
  bins: {},
  ...more,
});
const send = (project: string, readings: object[], server = 0) =>
  call("POST", "/api/v1/agent-metrics", { project, server_id: SERVERS[server], readings });

const ended = (graph: string, status: string, count: number, bin: number) =>
  reading(10, "run", {
    graph,
    assistant: `${graph} 1`,
    status,
    count,
    seconds: count * 10 ** (bin / 20),
    bins: { [bin]: count },
  });
const answers = [
  // sent twice, and grown in between
  await send("shop", [ended("agent", "success", 5, 0)]),
  await send("shop", [
    ended("agent", "success", 90, 0),
    ended("agent", "error", 10, 40),
    ended("sort", "timeout", 4, 0),
  ]),
  await send("shop", [ended("agent", "success", 90, 0)]),
  // both servers read the same queue
  await send("shop", [reading(10, "queue", { count: 7, seconds: 12 }), reading(9, "queue", { count: 3, seconds: 30 })]),
  await send("shop", [reading(10, "queue", { count: 6, seconds: 11 })], 1),
  await send("bank", [reading(10, "queue", { count: 2, seconds: 50 })], 1),
  await send("shop", [
    reading(10, "cron", { status: "created", count: 3 }),
    reading(10, "cron", { status: "passed", count: 1 }),
  ]),
  await send("shop", [
    reading(10, "webhook", { status: "delivered", count: 8 }),
    reading(10, "webhook", { status: "retried", count: 2 }),
  ]),
];
const project = await platform.deps.projects.ensureProject(TENANT, "shop");

const chart = (series: object, common_filters: object | null = { session: [project] }) =>
  call("POST", "/api/v1/charts/preview", {
    bucket_info: {
      start_time: new Date(now - 60 * MINUTE).toISOString(),
      end_time: new Date(now + 60 * MINUTE).toISOString(),
      stride: { days: 1 },
    },
    chart: { series: [{ id: "s", name: "s", ...series }], common_filters },
  });
/** Values of all steps, by group. */
const values = async (series: object, common?: object | null) => {
  const { status, json } = await chart(series, common);
  expect(status).toBe(200);
  const groups: Record<string, number> = {};
  for (const { group, value } of json.data) {
    if (value !== null && value !== 0) groups[group ?? ""] = Math.max(groups[group ?? ""] ?? 0, value as number);
  }
  return groups;
};

test("counts each event once, whatever is sent again, by graph, status and deployment", async () => {
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
  expect(await values({ metric: "agent_run_count" })).toEqual({ "": 104 });
  expect(await values({ metric: "agent_error_rate" })).toEqual({ "": 14 / 104 });
  const by = (attribute: string) => ({ group_by: { attribute } });
  expect(await values({ metric: "agent_run_count", ...by("graph") })).toEqual({ agent: 100, sort: 4 });
  expect(await values({ metric: "agent_run_count", ...by("status") })).toEqual({ success: 90, error: 10, timeout: 4 });
  expect(await values({ metric: "agent_run_count", group_by: { attribute: "graph", max_groups: 1 } })).toEqual({
    agent: 100,
    "(other)": 4,
  });
  expect(await values({ metric: "agent_run_count", ...by("project") })).toEqual({ [project]: 104 });
  // ten of a hundred runs took 100 s
  const { "": p50 } = await values({ metric: "agent_duration_p50" });
  const { "": p95 } = await values({ metric: "agent_duration_p95" });
  expect([p50! > 0.94 && p50! < 1.13, p95! > 94 && p95! < 113]).toEqual([true, true]);
});

test("shows the highest readings of the queue, which servers share and deployments do not", async () => {
  expect(await values({ metric: "queue_runs" })).toEqual({ "": 7 });
  expect(await values({ metric: "queue_oldest_seconds" })).toEqual({ "": 30 });
  expect(await values({ metric: "queue_runs" }, null)).toEqual({ "": 9 });
});

test("counts crons and webhooks, also as ratios", async () => {
  expect(await values({ metric: "cron_fired_count" })).toEqual({ "": 3 });
  expect(await values({ metric: "cron_missed_count" })).toEqual({ "": 1 });
  const denominator = { metric: "webhook_delivered_count" };
  expect(await values({ metric: "webhook_retry_count", denominator })).toEqual({ "": 0.25 });
});

test("filters of runs apply where agents have what they test, and are named where not", async () => {
  const pair = (key: string, value: string) => `and(eq(metadata_key, "${key}"), eq(metadata_value, "${value}"))`;
  const runs = (filter: string) => values({ metric: "agent_run_count", filters: { filter } });
  expect(await runs(pair("graph_id", "sort"))).toEqual({ "": 4 });
  expect(await runs(`not(${pair("graph_id", "sort")})`)).toEqual({ "": 100 });
  expect(await runs(`or(${pair("assistant_id", "sort 1")}, eq(status, "success"))`)).toEqual({ "": 94 });
  expect(await runs(`has(metadata, '{"graph_id": "agent"}')`)).toEqual({ "": 100 });
  // a timeout is an error of traces
  expect(await runs('eq(status, "error")')).toEqual({ "": 14 });
  expect(await runs('eq(status, "timeout")')).toEqual({ "": 4 });
  expect(await runs('neq(status, "error")')).toEqual({ "": 90 });
  expect(await runs(`eq(session_id, "${project}")`)).toEqual({ "": 104 });

  const { json: section } = await call("POST", "/api/v1/charts/section", { title: "Agents" });
  for (const metric of ["agent_run_count", "queue_runs", "run_count"]) {
    const series = [{ name: metric, metric }];
    await call("POST", "/api/v1/charts/create", { title: metric, chart_type: "line", section_id: section.id, series });
  }
  const read = async (body: object) => {
    const period = { start_time: new Date(now - 60 * MINUTE).toISOString(), stride: { days: 2 } };
    const { status, json } = await call("POST", `/api/v1/charts/section/${section.id}`, { ...period, ...body });
    expect(status).toBe(200);
    type Read = { data: { value: number; group: string | null }[]; series: object[]; unfiltered_series?: string[] };
    return (json.charts as Read[]).map(({ data, unfiltered_series: left }) => [
      Math.max(...data.map(({ value }) => value)),
      left?.length,
    ]);
  };
  expect(await read({})).toEqual([
    [104, undefined],
    [9, undefined],
    [0, undefined],
  ]);
  const filtered = async (common_filters: object) => read({ common_filters });
  expect(await filtered({ filter: 'eq(status, "success")' })).toEqual([
    [90, 0],
    [9, 1],
    [0, 0],
  ]);
  expect(await filtered({ filter: pair("graph_id", "sort") })).toEqual([
    [4, 0],
    [9, 1],
    [0, 0],
  ]);
  expect(await filtered({ filter: 'and(eq(status, "success"), eq(name, "x"))' })).toEqual([
    [104, 1],
    [9, 1],
    [0, 0],
  ]);
  expect(await filtered({ filter: 'eq(name, "x")', session: [project] })).toEqual([
    [104, 1],
    [7, 1],
    [0, 0],
  ]);
  expect(await filtered({ tree_filter: 'eq(status, "success")' })).toEqual([
    [104, 1],
    [9, 1],
    [0, 0],
  ]);
  // groups that metrics lack are not applied to them
  const grouped = (attribute: string) => read({ group_by: { attribute } });
  expect(await grouped("status")).toEqual([
    [90, undefined],
    [9, undefined],
    [0, undefined],
  ]);
  expect(await grouped("model")).toEqual([
    [104, undefined],
    [9, undefined],
    [Number.NEGATIVE_INFINITY, undefined],
  ]);
});

test("rejects what selects or groups runs, and readings of another day", async () => {
  expect(await chart({ metric: "queue_runs", filters: { filter: 'eq(name, "a")' } })).toMatchObject({
    status: 422,
    text: expect.stringMatching(/queue_runs is of agents/) as string,
  });
  expect((await chart({ metric: "queue_runs", group_by: { attribute: "model" } })).status).toBe(422);
  expect((await chart({ metric: "run_count", group_by: { attribute: "status" } })).status).toBe(422);
  expect((await send("shop", [reading(3000, "queue", { count: 1 })])).status).toBe(422);
});

test("forgets the metrics of a deleted project", async () => {
  const id = await platform.deps.projects.ensureProject(TENANT, "bank");
  expect((await call("DELETE", `/api/v1/sessions/${id}`)).status).toBeLessThan(300);
  await expect.poll(() => values({ metric: "queue_runs" }, null), { timeout: 10_000 }).toEqual({ "": 7 });
});
