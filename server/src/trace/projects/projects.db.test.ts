import { expect, test } from "vitest";

import { uuid7 } from "../../base/ids.ts";
import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform, sql, clickhouse } = await testTracePlatform();
const other = (n: number) => ({ "x-test-workspace": `00000000-0000-7000-8000-0000000000${n}` });

const create = async (body: object, query = "") => (await call("POST", `/sessions${query}`, body)).json;
const list = (query: string, headers = {}) => call("GET", `/api/v1/sessions?${query}`, undefined, headers);
const names = (answer: { json: { name: string }[] }) => answer.json.map((item) => item.name);

test("a project is created, read, updated and deleted", async () => {
  const created = await call("POST", "/sessions", { name: "one", description: "d", extra: { metadata: { a: 1 } } });
  expect(created.status).toBe(200);
  const { id } = created.json;
  expect(created.json).toMatchObject({ name: "one", description: "d", extra: { metadata: { a: 1 } }, end_time: null });
  expect(created.json).toHaveProperty("reference_dataset_id", null);

  const nulls = { name: null, description: null, extra: null, end_time: null };
  expect((await call("PATCH", `/sessions/${id}`, nulls)).json).toMatchObject({ name: "one", description: "d" });
  const changed = await call("PATCH", `/sessions/${id}`, {
    name: "uno",
    end_time: "2026-10-01T00:00:00Z",
    trace_tier: "shortlived",
  });
  expect(changed.json).toMatchObject({ name: "uno", end_time: "2026-10-01T00:00:00.000000", trace_tier: "shortlived" });
  expect((await call("GET", `/sessions/${id}`)).json).toEqual(changed.json);

  expect((await call("DELETE", `/sessions/${id}`)).json).toEqual({ deleted: [id], erasure_id: expect.any(String) });
  for (const [method, body] of [["GET"], ["PATCH", {}], ["DELETE"]] as [string, object?][]) {
    expect((await call(method, `/sessions/${id}`, body)).status).toBe(404);
  }
});

test("retention_days is set, kept when omitted, and removed by null", async () => {
  const { id } = await create({ name: "kept", retention_days: 5 });
  const change = async (body: object) => (await call("PATCH", `/sessions/${id}`, body)).json.retention_days;
  expect(await change({ description: "d" })).toBe(5);
  expect(await change({ retention_days: 7 })).toBe(7);
  expect(await change({ retention_days: null })).toBeNull();
  await change({ retention_days: 9 });
  expect(await create({ name: "kept", description: "e" }, "?upsert=true")).toMatchObject({ retention_days: 9 });
});

test("an experiment needs a dataset of its own workspace", async () => {
  const dataset = (await call("POST", "/datasets", { name: "mine" })).json.id;
  const rejected = await call("POST", "/sessions", { name: "e", reference_dataset_id: uuid7() });
  expect([rejected.status, rejected.json]).toEqual([404, { detail: "Dataset not found" }]);
  expect((await call("POST", "/sessions", { name: "e", reference_dataset_id: dataset }, other(32))).status).toBe(404);
  expect(await create({ name: "e", reference_dataset_id: dataset })).toMatchObject({ reference_dataset_id: dataset });
});

test("a duplicate name is a conflict, and upsert updates the existing project", async () => {
  const { id } = await create({ name: "taken", description: "first" });
  expect((await call("POST", "/sessions", { name: "taken" })).status).toBe(409);
  expect((await call("POST", "/sessions", { name: "other", id })).status).toBe(409);
  expect(await create({ name: "taken", extra: { x: 1 } }, "?upsert=true")).toMatchObject({
    id,
    description: "first",
    extra: { x: 1 },
  });
  const third = await create({ name: "third" });
  expect((await call("PATCH", `/sessions/${third.id}`, { name: "taken" })).status).toBe(409);
  // names and ids are unique per workspace only
  expect((await call("POST", "/sessions", { name: "taken", id }, other(31))).status).toBe(200);
});

test("a new workspace has a project named default", async () => {
  const { json, headers } = await list("limit=1", other(41));
  expect(names({ json })).toEqual(["default"]);
  expect(json[0].tenant_id).toBe(other(41)["x-test-workspace"]);
  expect(headers.get("x-pagination-total")).toBe("1");
});

test("the list is filtered, sorted and paged", async () => {
  const mine = other(51);
  const dataset = uuid7();
  await call("POST", "/datasets", { id: dataset, name: "d" }, mine);
  for (const [i, body] of [
    { name: "Alpha", extra: { metadata: { team: "x", dataset_version: "v1" } } },
    { name: "beta", reference_dataset_id: dataset },
    { name: "gamma", reference_dataset_id: dataset, extra: { metadata: { team: "x" } } },
  ].entries()) {
    await call("POST", "/sessions", { ...body, start_time: `2026-01-0${i + 1}T00:00:00Z` }, mine);
  }
  const found = async (query: string) => names(await list(query, mine));
  expect(await found("")).toEqual(["gamma", "beta", "Alpha"]);
  expect(await found("sort_by=name&sort_by_desc=false")).toEqual(["Alpha", "beta", "gamma"]);
  expect(await found("limit=1&offset=1")).toEqual(["beta"]);
  expect(await found("name=beta")).toEqual(["beta"]);
  expect(await found("name=bet")).toEqual([]);
  expect(await found("name_contains=A")).toEqual(["gamma", "beta", "Alpha"]);
  expect(await found("name_contains=alph")).toEqual(["Alpha"]);
  expect(await found("reference_free=true")).toEqual(["Alpha"]);
  expect(await found("reference_free=false")).toEqual(["gamma", "beta"]);
  expect(await found(`reference_dataset=${dataset}`)).toEqual(["gamma", "beta"]);
  expect(await found(`metadata=${encodeURIComponent('{"team":"x"}')}`)).toEqual(["gamma", "Alpha"]);
  expect(await found("dataset_version=v1")).toEqual(["Alpha"]);
  const [first] = (await list("name=beta", mine)).json;
  expect(first.test_run_number).toBe(1);
  expect(await found(`id=${first.id}&id=${uuid7()}`)).toEqual(["beta"]);
  expect((await list("limit=2", mine)).headers.get("x-pagination-total")).toBe("3");
  for (const query of ["limit=101", "metadata=x", "tag_value_id=1", "sort_by=nonsense"]) {
    expect((await list(query, mine)).status).toBe(422);
  }
  const filtered = (filter: string) => found(`filter=${encodeURIComponent(filter)}`);
  expect(await filtered(`and(has(metadata, '{"team":"x"}'), exists(metadata, "dataset_version"))`)).toEqual(["Alpha"]);
  expect(await filtered('not(has(metadata, "{\\"team\\":\\"x\\"}"))')).toEqual(["beta"]);
  expect(await filtered('and(eq("name", "beta"), not(exists("metadata", "dataset_version")))')).toEqual(["beta"]);
  expect(await filtered('or(eq(name, "beta"), like(name, "Al%"))')).toEqual(["beta", "Alpha"]);
  expect(await filtered('and(gte(start_time, "2026-01-02"), lt(start_time, "2026-01-03T00:00:00Z"))')).toEqual([
    "beta",
  ]);
  expect(await filtered(`and(eq(reference_dataset_id, "${dataset}"), neq(description, "x"))`)).toEqual([
    "gamma",
    "beta",
  ]);
  expect(await filtered("eq(reference_dataset_id, null)")).toEqual(["Alpha"]);
  expect(await filtered('in(name, ["beta", "gamma"])')).toEqual(["gamma", "beta"]);
  expect(await filtered('search("ALPH")')).toEqual(["Alpha"]);
  for (const filter of [
    "eq(a,1)",
    "eq(name, 1)",
    'eq(id, "x")',
    'gt(start_time, "x")',
    "and()",
    'eq(constructor, "x")',
  ]) {
    const rejected = await list(`filter=${encodeURIComponent(filter)}`, mine);
    expect([rejected.status, rejected.json.detail]).toEqual([
      400,
      expect.stringMatching(/^Invalid filter at character \d/),
    ]);
  }
});

test("returns statistics of a project's runs on request", async () => {
  const mine = other(61);
  const tokens = {
    outputs: { usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7, total_cost: 0.5 } },
  };
  const [slow, quick] = [
    sampleRun("busy", { error: "Error: x" }, { seconds: 3 }),
    sampleRun("calm", {}, { seconds: 1 }),
  ];
  await sendRuns(call, [slow, quick, sampleRun("busy", { run_type: "llm", ...tokens }, { parent: slow })], mine);
  await call("POST", "/feedback", { run_id: slow.id, key: "good", score: 1 }, mine);
  const [busy] = (await list("name=busy&include_stats=true", mine)).json;
  expect(busy).toMatchObject({
    run_count: 1,
    latency_p50: 3,
    total_tokens: 7,
    total_cost: "0.5",
    error_rate: 1,
    streaming_rate: 0,
    last_run_start_time: slow.start_time.slice(0, -1),
    feedback_stats: { good: { n: 1, avg: 1 } },
    session_feedback_stats: {},
  });
  expect((await call("GET", `/sessions/${busy.id}?include_stats=true`, undefined, mine)).json).toEqual(busy);
  expect((await list("name=busy", mine)).json[0]).not.toHaveProperty("run_count");

  const sorted = async (query: string) => names(await list(query, mine));
  expect(await sorted("sort_by=latency_p50")).toEqual(["busy", "calm"]);
  expect(await sorted("sort_by=latency_p50&sort_by_desc=false")).toEqual(["calm", "busy"]);
  expect(await sorted("sort_by=feedback&sort_by_feedback_key=good")).toEqual(["busy", "calm"]);
  const [later] = (await list(`name=busy&include_stats=true&stats_start_time=${quick.start_time}`, mine)).json;
  expect(later).toMatchObject({ run_count: 0, latency_p50: null, total_tokens: 0 });
  expect(later.feedback_stats).toEqual({});
  const [since] = (await list(`name=busy&include_stats=true&stats_start_time=${slow.start_time}`, mine)).json;
  expect(since.feedback_stats).toMatchObject({ good: { n: 1, avg: 1 } });
  const failed = encodeURIComponent('eq(status,"error")');
  const [matching] = (await list(`name=busy&include_stats=true&stats_filter=${failed}`, mine)).json;
  expect(matching.feedback_stats).toMatchObject({ good: { n: 1, avg: 1 } });
  const filter = encodeURIComponent('eq(status,"success")');
  expect((await list(`name=busy&include_stats=true&stats_filter=${filter}`, mine)).json[0].feedback_stats).toEqual({});
  expect((await list("include_stats=true&stats_start_time=1850-01-01T00:00:00Z", mine)).status).toBe(422);
  const metadata = `/sessions/${busy.id}/metadata?metadata_keys=k&start_time=2400-01-01T00:00:00Z`;
  expect((await call("GET", metadata, undefined, mine)).status).toBe(422);
  expect((await list(`name=busy&include_stats=true&stats_filter=${filter}`, mine)).json[0].run_count).toBe(0);
  expect((await list("include_stats=true&stats_filter=eq(", mine)).status).toBe(400);
  for (const start_time of ["2016-12-31T23:59:60Z", "9999-12-31T23:59:59-14:00"]) {
    expect((await call("POST", "/sessions", { start_time }, mine)).status).toBe(422);
  }
});

test("projects are listed by their last runs, however long ago, and those without runs come last", async () => {
  const mine = other(62);
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().replace("Z", "000Z");
  const runs = Object.entries({ today: [0.1, 3], week: [7, 50], months: [90], year: [400] }).flatMap(([name, days]) =>
    days.map((day) => sampleRun(name, { start_time: ago(day) })),
  );
  await sendRuns(call, runs, mine);
  await call("POST", "/sessions", { name: "none" }, mine);
  const sorted = async (query: string) => names(await list(`sort_by=last_run_start_time&${query}`, mine));
  expect(await sorted("")).toEqual(["today", "week", "months", "year", "none"]);
  expect(await sorted("sort_by_desc=false")).toEqual(["year", "months", "week", "today", "none"]);
  // the page is full before all runs were read
  expect(await sorted("limit=1")).toEqual(["today"]);
  expect(await sorted("limit=2&offset=1")).toEqual(["week", "months"]);
  const page = await list("sort_by=last_run_start_time&include_stats=true&limit=2&offset=1", mine);
  expect(page.json).toMatchObject([
    { name: "week", run_count: 2, last_run_start_time: runs[2]!.start_time.slice(0, -1) },
    { name: "months", run_count: 1 },
  ]);
});

test("returns the most frequent metadata of a project's runs", async () => {
  const runs = ["a", "b", "b", "c"].map((user) =>
    sampleRun("metadata", { extra: { metadata: { user, env: "prod" } } }),
  );
  await sendRuns(call, [
    ...runs,
    sampleRun("metadata", { extra: { metadata: { user: "child" } } }, { parent: runs[0]! }),
  ]);
  const id = await platform.deps.projects.ensureProject("00000000-0000-7000-8000-000000000001", "metadata");
  const read = async (query: string) => (await call("GET", `/sessions/${id}/metadata?${query}`)).json;
  expect(await read("k=1")).toMatchObject({ user: ["b"], env: ["prod"] });
  expect(await read("metadata_keys=user&root_runs_only=true")).toEqual({ user: ["b", "a", "c"] });
  expect((await call("GET", `/sessions/${uuid7()}/metadata`)).status).toBe(404);
});

test("a deleted project's runs and their data are deleted and stay deleted", async () => {
  const [doomed, remaining] = [sampleRun("doomed", {}, { seconds: null }), sampleRun("kept")];
  await sendRuns(call, [doomed, remaining]);
  await call("POST", "/feedback", { run_id: doomed.id, key: "k", score: 1 });
  await call("POST", "/feedback/tokens", { run_id: doomed.id, feedback_key: "k" });
  const [{ id }] = (await list("name=doomed")).json;
  expect((await call("DELETE", `/sessions?session_ids=${id}`)).json).toEqual({
    deleted: [id],
    erasure_id: expect.any(String),
  });

  expect((await call("GET", `/runs/${doomed.id}`)).status).toBe(404);
  expect((await call("GET", `/runs/${remaining.id}`)).status).toBe(200);
  const count = {
    name: "test",
    query: "select count() as n from runs where id = {id:UUID}",
    params: { id: doomed.id },
  };
  expect(await clickhouse.rows(count)).toEqual([{ n: 0 }]);
  expect(await sql`select 1 from feedback where run_id = ${doomed.id}`).toHaveLength(0);
  expect(await sql`select 1 from feedback_tokens where run_id = ${doomed.id}`).toHaveLength(0);
  // an update in transit is accepted and dropped
  await call("PATCH", `/runs/${doomed.id}`, { end_time: Date.now(), outputs: {} });
  expect((await call("GET", `/runs/${doomed.id}`)).status).toBe(404);
  expect(await clickhouse.rows(count)).toEqual([{ n: 0 }]);
});

test("another workspace's project can be neither read nor changed", async () => {
  const { id } = await create({ name: "private" });
  for (const [method, path, body] of [
    ["GET", `/sessions/${id}`],
    ["PATCH", `/sessions/${id}`, { name: "stolen" }],
    ["DELETE", `/sessions/${id}`],
    ["DELETE", `/sessions?session_ids=${id}`],
    ["GET", `/sessions/${id}/metadata`],
  ] as [string, string, object?][]) {
    expect((await call(method, path, body, other(71))).status).toBe(404);
  }
  expect(names(await list(`id=${id}`, other(71)))).toEqual([]);
  expect((await call("GET", `/sessions/${id}`)).json.name).toBe("private");
});
