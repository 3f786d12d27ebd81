import { expect, test, vi } from "vitest";

import { modelServer } from "../../../test/model-server.ts";
import { randIndex } from "../../../test/planted-topics.ts";
import { nameByTopic, sendTopicRuns, topicRuns } from "../../../test/topic-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";
import { uuid7 } from "../../base/ids.ts";

// jobs wait for the thread that clusters, which a busy machine delays
vi.setConfig({ testTimeout: 180_000 });

const provider = await modelServer();
const { call, sql } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
provider.script = (asked, schema) =>
  schema.title === "summaries"
    ? {
        summaries: (JSON.parse(asked) as { n: number; text: string }[]).map(({ n, text }) => ({
          n,
          summary: `S ${text}`,
        })),
      }
    : nameByTopic(asked);

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const PERIOD = { start_time: "2026-11-01T00:00:00Z", end_time: "2026-11-02T00:00:00Z" };

/** Creates a workspace with a project and, unless told otherwise, a connection. */
async function workspace({ connects = true } = {}) {
  const headers = { "x-test-workspace": uuid7() };
  const send = (method: string, path: string, body?: object) => call(method as "GET", path, body, headers);
  const { json: project } = await send("POST", "/sessions", { name: "shop" });
  if (connects) {
    await send("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
    const settings = { base_url: `${provider.url}/v1` };
    const body = { name: "fake", provider: "openai", settings, default_model: "gpt-4o-mini" };
    await send("POST", "/models/connections", body);
  }
  const insights = `/sessions/${project.id}/insights`;
  const start = async (body: object = {}): Promise<Json> => {
    const answer = await send("POST", insights, { ...PERIOD, ...body });
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
    return answer.json;
  };
  const ended = async (id: string): Promise<Json> => {
    await until(
      async () => !["queued", "running"].includes((await send("GET", `${insights}/${id}`)).json.status),
      "the job has ended",
      120,
    );
    return (await send("GET", `${insights}/${id}`)).json;
  };
  const runsOf = async (id: string, cluster?: string): Promise<Json[]> => {
    const found: Json[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const filter = cluster === undefined ? "" : `&cluster_id=${cluster}`;
      const { json } = await send("GET", `${insights}/${id}/runs?limit=100&offset=${offset}${filter}`);
      found.push(...json.runs);
      offset = json.offset as number | null;
    }
    return found;
  };
  return { headers, project: project.id as string, send, insights, start, ended, runsOf };
}

test("recovers planted topics, names them, and counts them for all runs", async () => {
  const { headers, start, ended, runsOf } = await workspace();
  const runs = topicRuns("shop", 500, {
    shares: { billing: 3 },
    fails: (i, topic) => topic === "login" && i % 2 === 0,
  });
  await sendTopicRuns(call, runs, headers);
  const created = await start({ sample: 300, name: "First" });
  expect(created).toMatchObject({ name: "First", error: null });
  const job = await ended(created.id);
  expect([job.error, job.status, job.state]).toEqual([null, "success", "success"]);
  expect(job).toMatchObject({ population: 500, sampled: 300, progress: { embedded: 300, clusters: 5, named: 5 } });
  expect(job.shape).toEqual({ 0: 5 });
  const names = job.clusters.map((cluster: Json) => cluster.name).toSorted();
  expect(names).toEqual(
    ["billing", "coding", "login", "shipping", "travel"].map((topic) => `Questions about ${topic}`),
  );
  const found = await runsOf(job.id);
  expect(found).toHaveLength(300);
  const topics = new Map(runs.map(({ run, topic }) => [run.id, topic]));
  const index = randIndex(
    found.map((run) => topics.get(run.id)!),
    found.map((run) => run.cluster_id as string),
  );
  expect(index).toBeGreaterThanOrEqual(0.9);
  const billing = job.clusters.find((cluster: Json) => cluster.name === "Questions about billing");
  expect(billing.stats.share).toBeCloseTo(3 / 7, 1);
  expect(billing.stats.estimated_runs).toBeGreaterThan(180);
  expect(billing.stats.error_rate).toBe(0);
  const login = job.clusters.find((cluster: Json) => cluster.name === "Questions about login");
  const failed = runs.filter(({ run }) => run["error"] !== undefined).length;
  expect(login.stats.error_rate * login.stats.estimated_runs).toBeCloseTo(failed, -1);
  expect(login.stats.latency_p50).toBe(1);
  expect(await runsOf(job.id, billing.id)).toHaveLength(billing.num_runs);
  expect(job.report.title).toBe("5 kinds of questions in 500 runs");
  expect(job.report.key_points[0]).toMatch(/^"Questions about billing" is the largest group: 4\d % of all runs\.$/);
  expect(job.report.highlighted_traces).toHaveLength(5);
  expect(Number(job.spent_usd)).toBeGreaterThan(0);
});

test("keeps failures at a third of the sample", async () => {
  const { headers, start, ended, runsOf } = await workspace();
  await sendTopicRuns(call, topicRuns("shop", 400, { fails: (i) => i % 10 === 0 }), headers);
  const job = await ended((await start({ sample: 60 })).id);
  const found = await runsOf(job.id);
  expect(found.filter((run) => run.error !== null)).toHaveLength(20);
  const total = job.clusters.reduce((sum: number, cluster: Json) => sum + cluster.stats.estimated_runs, 0);
  expect(total).toBeGreaterThan(395);
  expect(total).toBeLessThan(405);
  expect(job.population_failed).toBe(40);
});

test("groups failures by their errors, and counts bad feedback as one", async () => {
  const { headers, start, ended, send } = await workspace();
  const runs = topicRuns("shop", 80, { fails: (i) => i < 40 });
  for (const [i, { run }] of runs.entries()) {
    if (run["error"] !== undefined)
      run["error"] = i % 2 === 0 ? `timeout waiting for upstream ${i}` : `schema validation broken ${i}`;
  }
  await sendTopicRuns(call, runs, headers);
  for (const { run } of runs.slice(40, 44)) {
    await send("POST", "/feedback", { run_id: run.id, trace_id: run.id, key: "thumb", score: 0, comment: "rude" });
  }
  await until(async () => {
    const { json } = await send("POST", `/runs/stats`, {
      session: [runs[0] && (await projectOf(send))],
      filter: 'eq(feedback_key, "thumb")',
      is_root: true,
    });
    return json.run_count === 4;
  });
  const job = await ended((await start({ subject: "failures" })).id);
  expect(job).toMatchObject({ status: "success", population: 44, sampled: 44 });
  expect(job.report.title).toMatch(/failures in 44 failures$/);
});

const projectOf = async (send: (method: string, path: string) => Promise<Json>) =>
  (await send("GET", "/sessions?name=shop")).json[0].id as string;

test("counts threads once", async () => {
  const { headers, start, ended } = await workspace();
  const runs = topicRuns("shop", 90);
  for (const [i, { run }] of runs.entries()) run["extra"] = { metadata: { thread_id: `t${Math.floor(i / 3)}` } };
  await sendTopicRuns(call, runs, headers);
  expect(await ended((await start({ unit: "threads" })).id)).toMatchObject({ population: 30, sampled: 30 });
});

test("embeds summaries where they are wanted, and pays for each run once", async () => {
  const { headers, start, ended, runsOf } = await workspace();
  await sendTopicRuns(call, topicRuns("shop", 45), headers);
  const before = provider.embedded.length;
  const job = await ended((await start({ summarize: true, user_context: { "What is it?": "A shop" } })).id);
  expect(job.progress).toMatchObject({ summarized: 45, embedded: 45 });
  expect(provider.embedded.slice(before).every((text) => text.startsWith("S "))).toBe(true);
  expect((await runsOf(job.id))[0].summary).toMatch(/^S /);
});

test("compares with the previous job of the same settings, in words", async () => {
  const { headers, start, ended, send, insights } = await workspace();
  await sendTopicRuns(call, topicRuns("shop", 200), headers);
  const later = { start: Date.UTC(2026, 10, 2), shares: { billing: 6 }, seed: 9 };
  await sendTopicRuns(call, topicRuns("shop", 200, later), headers);
  const { json: config } = await send("POST", `${insights}/configs`, { name: "Weekly", config: { sample: 200 } });
  const first = await ended((await start({ config_id: config.id })).id);
  const second = await ended(
    (await start({ config_id: config.id, start_time: PERIOD.end_time, end_time: "2026-11-03T00:00:00Z" })).id,
  );
  expect([first.config_id, second.options.sample]).toEqual([config.id, 200]);
  const billing = second.clusters.find((cluster: Json) => cluster.name === "Questions about billing");
  expect(billing.stats.previous).toMatchObject({ job_id: first.id, name: "Questions about billing" });
  expect(second.report.key_points).toContain('"Questions about billing" grew from 20 % to 60 %.');
  const { json: list } = await send("GET", `${insights}?config_id=${config.id}`);
  expect(list.clustering_jobs.map((job: Json) => job.id)).toEqual([second.id, first.id]);
});

test("stops at its budget with what it has, and resumes with a greater one", async () => {
  const { headers, start, ended, send, insights } = await workspace();
  await sendTopicRuns(call, topicRuns("shop", 400), headers);
  const before = provider.embedded.length;
  // a batch of 100 texts is estimated at about 0.00003 USD
  const { id } = await start({ sample: 400, budget_usd: "0.0001", cluster_model: "gpt-4o-mini" });
  const stopped = await ended(id);
  expect(stopped).toMatchObject({ state: "stopped", status: "error", stop_reason: "budget" });
  expect(stopped.error).toMatch(/^stopped: budget\. /);
  expect(stopped.progress.embedded).toBeGreaterThan(0);
  expect(stopped.progress.embedded).toBeLessThan(400);
  expect(stopped.clusters.length).toBeGreaterThan(1);
  expect(Number(stopped.spent_usd)).toBeLessThanOrEqual(0.0001);
  const share = stopped.clusters.reduce((sum: number, cluster: Json) => sum + cluster.stats.share, 0);
  expect(share).toBeCloseTo(1, 1);
  expect((await send("POST", `${insights}/${id}/resume`, { budget_usd: 1 })).status).toBe(200);
  const job = await ended(id);
  expect(job).toMatchObject({ state: "success", error: null, progress: { embedded: 400, clusters: 5, named: 5 } });
  expect(provider.embedded.length - before).toBe(400);
});

test("is absent without a connection", async () => {
  const { send, insights } = await workspace({ connects: false });
  for (const path of [insights, `${insights}/estimate`]) {
    const answer = await send("POST", path, {});
    expect(answer.status).toBe(424);
    expect(answer.json.detail).toContain("Insights need a model connection");
  }
});

test("estimates the cost before it starts", async () => {
  const { headers, send, insights } = await workspace();
  await sendTopicRuns(call, topicRuns("shop", 100), headers);
  const { json } = await send("POST", `${insights}/estimate`, { ...PERIOD, summarize: true });
  expect(json).toMatchObject({
    population: 100,
    sample: 100,
    embedding: { provider: "openai", model: "text-embedding-3-small" },
    summaries: { calls: 10 },
    names: { calls: 10 },
  });
  expect(Number(json.cost_usd)).toBeGreaterThan(0);
});

test("rejects what it cannot do", async () => {
  const { send, insights } = await workspace();
  const status = async (body: object) => (await send("POST", insights, body)).status;
  expect(await status({ filter: "eq(" })).toBe(400);
  expect(await status({ sample: 10_001 })).toBe(422);
  expect(await status({ sample: 1.5 })).toBe(422);
  expect(await status({ attribute_schemas: { mood: { type: "string" } } })).toBe(422);
  expect(await status({ hierarchy: [3, 10] })).toBe(422);
  expect(await status({ start_time: "2026-11-02", end_time: "2026-11-01" })).toBe(422);
  expect(await status({ config_id: uuid7() })).toBe(404);
  expect(await status({ connection_id: uuid7() })).toBe(404);
  expect((await send("POST", `${insights}/configs/generate`, { user_context: {} })).status).toBe(422);
  expect((await send("POST", `/sessions/${uuid7()}/insights`, {})).status).toBe(404);
});

test("ends with an explanation when there are no runs, and when the provider rejects the key", async () => {
  const { headers, start, ended, send, insights } = await workspace();
  const empty = await ended((await start()).id);
  expect(empty).toMatchObject({ status: "error", stop_reason: "empty" });
  await sendTopicRuns(call, topicRuns("shop", 20), headers);
  const failed = await ended((await start({ embedding_model: "fail-401" })).id);
  expect(failed).toMatchObject({ status: "error", stop_reason: "model" });
  expect(failed.error).toContain("rejected the credentials");
  expect((await send("POST", `${insights}/${failed.id}/cancel`)).status).toBe(409);
});

test("bounds names of models, and keeps them unique", async () => {
  const { headers, start, ended } = await workspace();
  await sendTopicRuns(call, topicRuns("shop", 100), headers);
  const script = provider.script;
  provider.script = () => ({ name: `<b>same</b>\n${"x".repeat(5000)}`, description: "\u0000\u202Ed" });
  const job = await ended((await start()).id);
  provider.script = script;
  const names = job.clusters.map((cluster: Json) => cluster.name) as string[];
  expect(new Set(names).size).toBe(names.length);
  expect(names.every((name) => name.length <= 80 && !name.includes("\n"))).toBe(true);
  expect(job.clusters[0].description).toBe("d");
});

test("forgets deleted runs, and projects altogether", async () => {
  const { headers, project, start, ended, runsOf, send } = await workspace();
  const runs = topicRuns("shop", 60);
  await sendTopicRuns(call, runs, headers);
  const job = await ended((await start()).id);
  const gone = job.report.highlighted_traces[0].run_id as string;
  await send("POST", "/runs/delete", { session_id: project, trace_ids: [gone] });
  await until(async () => (await runsOf(job.id)).length === 59);
  const [left] = await sql`select count(*)::int as n from insight_runs where job_id = ${job.id}`;
  expect(left).toEqual({ n: 59 });
  expect((await ended(job.id)).report.highlighted_traces.map((run: Json) => run.run_id)).not.toContain(gone);
  await send("DELETE", `/sessions/${project}`);
  expect(await sql`select 1 from insight_jobs where job_id = ${job.id}`).toHaveLength(0);
  expect(await sql`select 1 from insight_runs where job_id = ${job.id}`).toHaveLength(0);
});

test("hides jobs, clusters and configs from other workspaces", async () => {
  const [mine, other] = [await workspace(), await workspace()];
  await sendTopicRuns(call, topicRuns("shop", 30), mine.headers);
  const job = await mine.ended((await mine.start()).id);
  const { json: config } = await mine.send("POST", `${mine.insights}/configs`, { name: "c", config: {} });
  const cluster = job.clusters[0].id;
  for (const base of [mine.insights, other.insights]) {
    for (const path of [`/${job.id}`, `/${job.id}/runs`, `/${job.id}/clusters/${cluster}`]) {
      expect((await other.send("GET", base + path)).status).toBe(404);
    }
    expect((await other.send("DELETE", `${base}/${job.id}`)).status).toBe(404);
    expect((await other.send("PATCH", `${base}/${job.id}`, { name: "x" })).status).toBe(404);
    expect((await other.send("DELETE", `${base}/configs/${config.id}`)).status).toBe(404);
    expect((await other.send("POST", base, { config_id: config.id })).status).toBe(404);
  }
  expect((await mine.send("PATCH", `${mine.insights}/${job.id}`, { name: "New" })).json).toEqual({
    name: "New",
    status: "success",
  });
  expect((await mine.send("DELETE", `${mine.insights}/${job.id}`)).status).toBe(200);
});
