import { expect, test } from "vitest";

import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { ALL_PERMISSIONS } from "../../base/auth/permissions.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

let permissions = ALL_PERMISSIONS;
const guard: typeof openGuard = {
  ...openGuard,
  authenticator: {
    authenticate: ({ headers }) => testPrincipal(headers.get("x-test-workspace") ?? undefined, permissions),
  },
};
const { call, platform } = await testTracePlatform({}, { guard });
const TENANT = "00000000-0000-7000-8000-000000000001";
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const DAY = Date.UTC(2026, 9, 5);

const at = (hour: number) => microseconds(DAY + hour * 3_600_000);
await sendRuns(call, [
  sampleRun("boards", { start_time: at(1), name: "a" }),
  sampleRun("boards", { start_time: at(1.5), name: "b", error: "no" }),
  sampleRun("boards", { start_time: at(3), name: "b" }),
]);
const project = await platform.deps.projects.ensureProject(TENANT, "boards");
const period = {
  start_time: new Date(DAY).toISOString(),
  end_time: new Date(DAY + 4 * 3_600_000).toISOString(),
  stride: { hours: 1 },
};
const series = [{ name: "Runs", metric: "run_count" }];
const ok = async (method: string, path: string, body?: object) => {
  const { status, json, text } = await call(method, path, body);
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
  return json;
};
const valuesOf = (data: { value: unknown; group: string | null }[]) =>
  data.map(({ value, group }) => (group === null ? value : [group, value]));

test("a dashboard is created, filled, read with data, changed, copied and deleted", async () => {
  const section = await ok("POST", "/charts/section", { title: "Team", description: "ours" });
  expect(section).toMatchObject({ title: "Team", description: "ours", chart_count: 0 });
  const chart = await ok("POST", "/charts/create", {
    title: "Runs",
    chart_type: "line",
    section_id: section.id,
    series,
    common_filters: { session: [project] },
    metadata: { width: 2 },
  });
  expect(chart).toMatchObject({ index: 0, section_id: section.id, metadata: { width: 2 }, series: [{ name: "Runs" }] });
  const read = await ok("POST", `/charts/section/${section.id}`, period);
  expect(valuesOf(read.charts[0].data)).toEqual([0, 2, 0, 1]);
  expect(read.charts[0].data[1]).toMatchObject({
    series_id: chart.series[0].id,
    timestamp: "2026-10-05T01:00:00.000Z",
  });
  const grouped = await ok("POST", `/charts/section/${section.id}`, { ...period, group_by: { attribute: "name" } });
  expect(grouped.charts[0].series[0].group_by).toMatchObject({ attribute: "name", set_by: "section" });
  expect(valuesOf(grouped.charts[0].data)).toContainEqual(["a", 1]);
  expect(valuesOf((await ok("POST", `/charts/${chart.id}`, period)).data)).toEqual([0, 2, 0, 1]);
  const all = await ok("POST", "/charts", { ...period, omit_data: true });
  expect(all.sections.find(({ id }: { id: string }) => id === section.id).charts[0]).toMatchObject({ data: [] });

  const changed = await ok("PATCH", `/charts/${chart.id}`, {
    title: { __missing__: "__missing__" },
    chart_type: "bar",
    description: null,
    series: [
      { ...series[0], id: chart.series[0].id, filters: { filter: 'eq(status, "error")' } },
      { name: "Failed", metric: "error_rate" },
    ],
  });
  expect(changed).toMatchObject({ title: "Runs", chart_type: "bar" });
  expect(changed.series[0].id).toBe(chart.series[0].id);
  const { data } = await ok("POST", `/charts/${chart.id}`, period);
  expect(valuesOf(data)).toEqual([0, 1, 0, 0, null, 0.5, null, 0]);

  const copy = await ok("POST", "/charts/section/clone", { section_id: section.id });
  expect(copy).toMatchObject({ title: "Copy of Team", chart_count: 1 });
  expect(await ok("PATCH", `/charts/section/${copy.id}`, { title: "Mine", index: 7 })).toMatchObject({
    title: "Mine",
    index: 7,
  });
  const found = await ok("GET", "/charts/section?title_contains=mine&sort_by=title&sort_by_desc=false");
  expect(found).toMatchObject([{ id: copy.id }]);
  await ok("PATCH", `/charts/${chart.id}`, { section_id: copy.id });
  expect(await ok("DELETE", `/charts/${chart.id}`)).toEqual({});
  await ok("DELETE", `/charts/section/${copy.id}`);
  expect((await call("POST", `/charts/section/${copy.id}`, period)).status).toBe(404);
  expect((await call("DELETE", `/charts/section/${copy.id}`)).status).toBe(404);
  const loose = await ok("POST", "/charts/create", { title: "x", chart_type: "bar", series });
  expect(await ok("POST", `/charts/section/${loose.section_id}`, { omit_data: true })).toMatchObject({
    title: "Charts",
  });
});

test("a preview has the data of a chart that does not exist", async () => {
  const preview = (fields: object) =>
    call("POST", "/charts/preview", {
      bucket_info: period,
      chart: { series: [{ ...series[0], id: "s", ...fields }], common_filters: { session: [project] } },
    });
  const { json } = await preview({ filters: { filter: 'eq(name, "b")', session: [project] } });
  expect(json.data.map(({ value }: { value: number }) => value)).toEqual([0, 1, 0, 1]);
  expect(json.data[0]).toMatchObject({ series_id: "s" });
  expect((await preview({ filters: { filter: "eq(" } })).status).toBe(400);
  expect((await preview({ project_metric: "cpu_usage" })).text).toContain("project_metric");
  expect((await preview({ workspace_id: OTHER["x-test-workspace"] })).status).toBe(422);
  expect((await preview({ metric: "luck" })).status).toBe(422);
  const foreign = { session: ["00000000-0000-7000-8000-00000000beef"] };
  expect((await preview({ filters: foreign })).status).toBe(404);
  const minutes = { ...period, start_time: "2025-01-01", stride: { minutes: 1 } };
  const long = await call("POST", "/charts/preview", {
    bucket_info: minutes,
    chart: { series: [{ ...series[0], id: "s" }] },
  });
  expect(long.status).toBe(422);
  expect((await preview({ group_by: { attribute: "metadata" } })).status).toBe(422);
});

test("every project has a dashboard, of which a copy can be changed", async () => {
  const dashboard = await ok("POST", `/sessions/${project}/dashboard`, period);
  expect(dashboard).toMatchObject({ session_id: project, title: "boards", charts: [] });
  const charts = dashboard.sub_sections.flatMap(({ charts }: { charts: unknown[] }) => charts);
  const named = (title: string) => charts.find((chart: { title: string }) => chart.title === title);
  expect(valuesOf(named("Traces").data)).toEqual([0, 2, 0, 1]);
  expect(valuesOf(named("Error rate").data)).toEqual([null, 0.5, null, 0]);
  expect(named("Latency of all traces").data[1].value).toEqual({ "1": 2 });
  const copy = await ok("POST", "/charts/section/clone", { session_id: project });
  expect(copy).toMatchObject({ title: "Copy of boards", chart_count: charts.length });
  expect((await call("POST", "/sessions/00000000-0000-7000-8000-00000000beef/dashboard", period)).status).toBe(404);
});

test("dashboards belong to their workspace", async () => {
  const section = await ok("POST", "/charts/section", { title: "Private" });
  const chart = await ok("POST", "/charts/create", { title: "x", chart_type: "line", section_id: section.id, series });
  const statuses = await Promise.all(
    [
      ["POST", `/charts/section/${section.id}`, period],
      ["PATCH", `/charts/section/${section.id}`, { title: "theirs" }],
      ["DELETE", `/charts/section/${section.id}`],
      ["POST", "/charts/section/clone", { section_id: section.id }],
      ["POST", `/charts/${chart.id}`, period],
      ["PATCH", `/charts/${chart.id}`, { title: "theirs" }],
      ["DELETE", `/charts/${chart.id}`],
      ["POST", "/charts/create", { title: "x", chart_type: "line", section_id: section.id, series }],
      ["POST", `/sessions/${project}/dashboard`, period],
    ].map(async ([method, path, body]) => (await call(method as string, path as string, body, OTHER)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([404]));
  expect((await call("GET", "/charts/section", undefined, OTHER)).json).toEqual([]);
});

test("a filter of one's own needs the permission to view runs", async () => {
  permissions = ["charts:read", "projects:read"];
  const chart = { title: "Secret", chart_type: "line", series: [{ id: "a", ...series[0] }] };
  expect((await call("POST", "/charts/preview", { chart, bucket_info: period })).status).toBe(403);
  expect((await call("POST", "/charts/changes", { session: [project], ...period })).status).toBe(403);
  expect((await call("POST", "/charts", period)).status).toBe(200);
  permissions = ALL_PERMISSIONS;
  const { id } = await ok("POST", "/charts/section", { title: "Guarded" });
  permissions = ["charts:read", "projects:read"];
  const by = { group_by: { attribute: "metadata", path: "email" } };
  for (const path of [`/charts/section/${id}`, `/sessions/${project}/dashboard`]) {
    expect((await call("POST", path, period)).status).toBe(200);
    // values of metadata are in runs too
    expect((await call("POST", path, { ...period, ...by })).status).toBe(403);
    expect((await call("POST", path, { ...period, common_filters: { filter: 'eq(name, "a")' } })).status).toBe(403);
  }
  permissions = ALL_PERMISSIONS;
});

test("a change of a part of a chart is checked with the part that stays", async () => {
  const create = (more: object) => ok("POST", "/charts/create", { title: "x", chart_type: "line", ...more });
  const filter = { filter: 'eq(name, "a")' };
  const agents = [{ name: "q", metric: "queue_runs" }];
  const ofAgents = await create({ series: agents });
  const ofRuns = await create({ series, common_filters: filter });
  expect(await call("PATCH", `/charts/${ofAgents.id}`, { common_filters: filter })).toMatchObject({
    status: 422,
    text: expect.stringContaining("queue_runs is of agents") as string,
  });
  expect((await call("PATCH", `/charts/${ofRuns.id}`, { series: agents })).status).toBe(422);
  await ok("PATCH", `/charts/${ofRuns.id}`, { series: agents, common_filters: null });
});

test("ratios are of numbers, and copies of long titles fit", async () => {
  const preview = (metric: string, denominator: string) =>
    call("POST", "/charts/preview", {
      bucket_info: period,
      chart: { series: [{ id: "s", name: "s", metric, denominator: { metric: denominator } }] },
    });
  for (const [metric, denominator] of [
    ["latency_counts", "run_count"],
    ["run_count", "latency_counts"],
    ["feedback", "run_count"],
    ["run_count", "feedback_values"],
  ] as const)
    expect(await preview(metric, denominator)).toMatchObject({
      status: 422,
      text: expect.stringContaining("is a distribution") as string,
    });
  const named = await ok("POST", "/sessions", { name: "n".repeat(1000) });
  const copy = await ok("POST", "/charts/section/clone", { session_id: named.id });
  expect(copy.title).toHaveLength(512);
});

test("a series divided by another is a ratio, and a filter of the dashboard applies to all charts", async () => {
  const { id } = await ok("POST", "/charts/section", { title: "Ratios" });
  const failed = { filter: 'eq(status, "error")' };
  await ok("POST", "/charts/create", {
    title: "Failed",
    chart_type: "line",
    section_id: id,
    common_filters: { session: [project] },
    series: [
      { name: "share", metric: "run_count", filters: failed, denominator: { metric: "run_count" } },
      {
        name: "by name",
        metric: "run_count",
        filters: failed,
        denominator: { metric: "run_count" },
        group_by: { attribute: "name" },
      },
    ],
  });
  const read = async (body: object) => (await ok("POST", `/charts/section/${id}`, { ...period, ...body })).charts[0];
  const { data, series: stored } = await read({});
  expect(valuesOf(data)).toEqual([null, 0.5, null, 0, ["b", null], ["b", 1], ["b", null], ["b", 0]]);
  expect(stored[0].denominator).toEqual({ metric: "run_count" });
  const filtered = await read({ common_filters: { filter: 'eq(name, "b")' } });
  expect(valuesOf(filtered.data).slice(0, 4)).toEqual([null, 1, null, 0]);
  expect((await call("POST", `/charts/section/${id}`, { ...period, common_filters: { filter: "eq(" } })).status).toBe(
    400,
  );
});
