/** Bounds the cost of a caller's queries, so that traces are still accepted while they run. */
import { randomBytes, randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { WORKSPACE } from "../../../test/principal.ts";

// replicas of one database need the same keys
const KEYS = { HEDDLE_SECRETS_KEYS: `test:${randomBytes(32).toString("base64")}` };
const db = await testDatabase();
const { call, platform, clickhouse } = await testTracePlatform(KEYS, { db });
const { call: hurried } = await testTracePlatform(
  { ...KEYS, HEDDLE_TRACE_QUERY_SECONDS: "1", HEDDLE_LOG_LEVEL: "silent" },
  { db },
);
const session = [await platform.deps.projects.ensureProject(WORKSPACE, "costly")];

const searches = (count: number, word = "word"): string =>
  `or(${Array.from({ length: count }, (_, n) => `search("${word} ${n}")`).join(", ")})`;

const BUCKETS = { start_time: "2026-11-01T00:00:00Z", end_time: "2026-11-02T00:00:00Z", bucket_seconds: 3600 };

test("accepts a hundred conditions over all expressions of a request, and rejects more with the number", async () => {
  const rejected = { status: 422, json: { detail: expect.stringMatching(/have 101 conditions, .* at most 100/) } };
  const project_id = session[0];
  for (const [path, body] of [
    ["/runs/query", { session }],
    ["/runs/stats", { session }],
    ["/runs/stats/timeline", { session, ...BUCKETS }],
    ["/runs/group", { session_id: project_id, group_by: "conversation" }],
    ["/api/v2/threads/query", { project_id }],
    ["/api/v2/runs/query", { project_ids: session }],
  ] as const) {
    const few = await call("POST", path, { ...body, filter: searches(100) });
    expect([path, few.status, few.text]).toEqual([path, 200, expect.any(String)]);
    const { status, text } = await call("POST", path, { ...body, filter: searches(101) });
    expect([path, status, text]).toEqual([path, 422, expect.stringContaining("have 101 conditions")]);
  }
  const apart = { session, filter: searches(50), trace_filter: searches(50), tree_filter: 'eq(name, "x")' };
  expect(await call("POST", "/runs/query", apart)).toMatchObject(rejected);
  const traces = { project_id, trace_filter: searches(60), tree_filter: searches(41) };
  expect((await call("POST", "/api/v2/traces/query", traces)).status).toBe(422);
  const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, n])));
  expect(await call("POST", "/runs/query", { session, filter: `has(metadata, '${keys}')` })).toMatchObject(rejected);

  const listed = `in(name, [${Array.from({ length: 1000 }, (_, n) => `"n${n}"`).join(", ")}])`;
  expect((await call("POST", "/runs/query", { session, filter: listed })).status).toBe(200);
  // an id is found whatever the rest of the body contains
  expect((await call("POST", "/runs/query", { id: session, filter: searches(101) })).status).toBe(200);
});

test("validating an expression reports the limit too", async () => {
  const { json } = await call("POST", "/runs/query/validate", { filter: searches(60), tree_filter: searches(60) });
  const message = expect.stringContaining("have 120 conditions");
  expect(json).toEqual({ valid: false, errors: [{ field: "filter", message }] });
});

test("a query that exceeds the time limit is stopped in the engine and rejected", async () => {
  await clickhouse.command({
    name: "t",
    query: `insert into runs (tenant_id, project_id, start_time, id, trace_id, name, inputs, updated_at)
      select {t:UUID}, {p:UUID}, now64(6) - number / 1000, generateUUIDv4() as id, id, 'n', randomPrintableASCII(1500), now64(6)
      from numbers(60000)`,
    params: { t: WORKSPACE, p: session[0]! },
  });
  const { status, json } = await hurried("POST", "/runs/stats", { session, filter: searches(100, "no such words") });
  expect([status, json]).toEqual([422, { detail: expect.stringMatching(/^The query took longer than 1 s\. /) }]);
  const working = () =>
    clickhouse.rows({ name: "t", query: "select query_id from system.processes where query like '/* runs.stats %'" });
  await expect.poll(async () => (await working()).length).toBe(0);
});

test("accepts traces while forty slow queries wait", async () => {
  let over = 0;
  const requests = Array.from({ length: 40 }, async (_, n) => {
    const { status } = await hurried("POST", "/runs/stats", { session, filter: searches(100, `words ${n}`) });
    over++;
    return status;
  });
  const run = sampleRun("costly");
  await sendRuns(hurried, [run]);
  const { trace_id, dotted_order } = run;
  // looks up the run it belongs to
  const patched = await hurried("PATCH", `/runs/${run.id}`, { trace_id, dotted_order, outputs: { done: true } });
  expect(patched.status).toBe(202);
  // the queries take about twenty seconds, and fewer than half have finished
  expect(over).toBeLessThan(20);
  const statuses = new Set(await Promise.all(requests));
  // queries that wait too long are rejected
  expect([...statuses].filter((status) => ![200, 422, 503].includes(status))).toEqual([]);
});

test("serves another workspace's search while one workspace has ten slow queries waiting", async () => {
  const workspaceId = randomUUID();
  const small = [await platform.deps.projects.ensureProject(workspaceId, "small")];
  const headers = { "x-test-workspace": workspaceId };
  const search = () => hurried("POST", "/runs/query", { session: small, filter: 'eq(name, "x")' }, headers);
  await search();
  let over = 0;
  const requests = Array.from({ length: 10 }, async (_, n) => {
    await hurried("POST", "/runs/stats", { session, filter: searches(100, `terms ${n}`) });
    over++;
  });
  for (let n = 0; n < 3; n++) expect((await search()).status).toBe(200);
  // it did not wait behind any of them
  expect(over).toBeLessThan(5);
  await Promise.all(requests);
});
