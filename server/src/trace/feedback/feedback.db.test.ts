import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { uuid7 } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { createFeedback } from "./create-feedback.ts";
import { FeedbackMirror } from "./feedback-mirror.ts";
import { deleteFeedbackOfProjects, deleteFeedbackOfTraces } from "./purge-sql.ts";
import { createBody } from "./schema.ts";
import { feedbackStats } from "./stats.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { platform, sql, clickhouse, call: request } = await testTracePlatform();
const { deps } = platform;

/** Sends a request, and waits until its changes are attached and copied: a busy machine may take longer than a response waits. */
const call: typeof request = async (...args) => {
  const response = await request(...args);
  await expect.poll(() => sql`select 1 from feedback_changes`, { timeout: 20_000 }).toHaveLength(0);
  return response;
};

/** Records a run as ingest does. @returns the run's id */
async function arrive(runId = uuid7(), projectName = "default") {
  const project_id = await deps.projects.ensureProject(WORKSPACE, projectName);
  const row = { tenant_id: WORKSPACE, id: runId, project_id, trace_id: runId, deleted: false };
  const times = { start_time: "2026-11-21 10:00:00.123456", version: "2026-11-21 10:00:00.200000" };
  await clickhouse.insert(
    "run_keys",
    Object.keys({ ...row, ...times }),
    Buffer.from(JSON.stringify({ ...row, ...times })),
  );
  return { runId, project_id };
}

/** Returns the copies that filters see. */
const copies = (runId: string) =>
  clickhouse.rows<{ key: string; score: number | null; value: string | null; session_id: string | null }>({
    name: "test",
    query: "select key, score, value, session_id from feedback final where run_id = {run:UUID} order by created_at, id",
    params: { run: runId },
  });

const give = (body: Record<string, unknown>, headers = {}) => call("POST", "/feedback", body, headers);

test("feedback is created, read, updated, listed and deleted", async () => {
  const { runId, project_id } = await arrive();
  const id = uuid7();
  const created = await give({
    id,
    run_id: runId,
    key: "correctness",
    score: true,
    value: { a: 1 },
    comment: "good",
    correction: { better: "yes" },
    feedback_source: { type: "model", metadata: { __run: { run_id: runId } } },
    error: false,
  });
  expect(created.status).toBe(200);
  expect(created.json).toMatchObject({ id, key: "correctness", score: 1 });
  expect((await call("GET", `/feedback/${id}`)).json).toMatchObject({
    id,
    key: "correctness",
    score: 1,
    value: { a: 1 },
    comment: "good",
    correction: { better: "yes" },
    run_id: runId,
    session_id: project_id,
    trace_id: runId,
    is_root: true,
    start_time: "2026-11-21T10:00:00.123456+00:00",
    feedback_source: { type: "model", metadata: { __run: { run_id: runId } } },
    extra: { error: false },
  });
  expect(await copies(runId)).toEqual([{ key: "correctness", score: 1, value: '{"a": 1}', session_id: project_id }]);

  const patched = await call("PATCH", `/feedback/${id}`, { score: 0.25, comment: null });
  expect(patched.json).toMatchObject({ score: 0.25, comment: null, value: { a: 1 }, correction: { better: "yes" } });
  expect((await copies(runId))[0]!.score).toBe(0.25);
  expect((await call("GET", `/api/v1/feedback/${id}`)).json).toEqual(patched.json);
  expect((await call("GET", `/feedback?run=${runId}&run=${uuid7()}&limit=5`)).json).toEqual([patched.json]);

  expect((await call("DELETE", `/feedback/${id}`)).status).toBe(200);
  expect((await call("GET", `/feedback/${id}`)).status).toBe(404);
  expect((await call("DELETE", `/feedback/${id}`)).status).toBe(404);
  expect(await copies(runId)).toEqual([]);
  expect(await sql`select 1 from feedback_changes`).toEqual([]);
});

test("feedback waits for its run and is attached when it arrives", async () => {
  const runId = uuid7();
  const { json, status } = await give({ run_id: runId, key: "early", score: 1 });
  expect(status).toBe(200);
  expect(json).toMatchObject({ run_id: runId, session_id: null, trace_id: null });
  expect(await copies(runId)).toMatchObject([{ key: "early", session_id: null }]);

  const { project_id } = await arrive(runId, "late runs");
  await expect
    .poll(async () => (await call("GET", `/feedback/${json.id}`)).json)
    .toMatchObject({ session_id: project_id, trace_id: runId, is_root: true });
  await expect.poll(() => copies(runId)).toMatchObject([{ session_id: project_id }]);
  const stats = await feedbackStats(sql, WORKSPACE, "projects", [project_id]);
  expect(stats.get(project_id)).toMatchObject({ early: { n: 1, avg: 1 } });
});

test("feedback with the same id is replaced, and cannot move to another run", async () => {
  const id = uuid7();
  const runId = uuid7();
  await give({ id, run_id: runId, key: "again", score: 0 });
  expect((await give({ id, run_id: runId, key: "again", score: 1 })).json).toMatchObject({ id, score: 1 });
  expect(await copies(runId)).toMatchObject([{ score: 1 }]);
  const moved = await give({ id, run_id: uuid7(), key: "again", score: 1 });
  expect(moved.status).toBe(409);
  // the same id in another workspace is independent
  expect((await give({ id, run_id: runId, key: "theirs", score: 5 }, OTHER)).status).toBe(200);
  expect((await call("GET", `/feedback/${id}`)).json).toMatchObject({ key: "again", score: 1 });
});

test("a batch of feedback is stored completely or not at all", async () => {
  const runId = uuid7();
  const author = { tenantId: WORKSPACE, userId: null };
  const inputs = ["a", "b", "c"].map((key, score) => createBody.parse({ run_id: runId, key, score }));
  expect(await createFeedback(deps, author, inputs)).toHaveLength(3);
  expect((await copies(runId)).map((copy) => copy.key).sort()).toEqual(["a", "b", "c"]);
  const [first] = await sql<{ feedback_id: string }[]>`select feedback_id from feedback where run_id = ${runId}`;
  const mixed = [
    createBody.parse({ run_id: runId, key: "d" }),
    createBody.parse({ id: first!.feedback_id, run_id: uuid7(), key: "e" }),
  ];
  await expect(createFeedback(deps, author, mixed)).rejects.toMatchObject({ status: 409 });
  expect(await sql`select 1 from feedback where run_id = ${runId}`).toHaveLength(3);
});

test("of feedback with one id that is sent for several runs at the same time, only that of its run is accepted", async () => {
  const [runId, id] = [uuid7(), uuid7()];
  await give({ id, run_id: runId, key: "mine", score: 0 });
  for (let round = 1; round <= 5; round++) {
    const others = Array.from({ length: 12 }, () => uuid7());
    // last in some rounds: the others before it in one statement leave the stored feedback alone
    const runs = round % 2 === 0 ? [runId, ...others] : [...others, runId];
    const answers = await Promise.all(runs.map((run) => give({ id, run_id: run, key: "mine", score: round })));
    expect(answers.map(({ status }) => status)).toEqual(runs.map((run) => (run === runId ? 200 : 409)));
    expect((await call("GET", `/feedback/${id}`)).json).toMatchObject({ run_id: runId, score: round });
  }
});

test("of feedback created at the same time, only what is invalid is rejected, and ids are read in either case", async () => {
  const [runId, id, taken] = [uuid7(), uuid7(), uuid7()];
  await give({ id: taken, run_id: uuid7(), key: "taken" });
  const answers = await Promise.all([
    ...Array.from({ length: 20 }, (_, score) => give({ run_id: runId, key: "same time", score })),
    give({ id: taken, run_id: runId, key: "moved" }),
    // twice in one statement
    ...[1, 2].map((score) => give({ id: id.toUpperCase(), run_id: runId, key: "twice", score })),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 200), 409, 200, 200]);
  expect(answers.slice(0, 20).map(({ json }) => json.score)).toEqual(Array.from({ length: 20 }, (_, score) => score));
  expect(answers[21]!.json.id).toBe(id);
  expect(await copies(runId)).toHaveLength(21);
});

test("a list is filtered by key, source, level, comment, score and time", async () => {
  const { project_id } = await arrive(uuid7(), "lists");
  const runId = uuid7();
  await give({ session_id: project_id, key: "summary", score: 0.5 });
  await give({ run_id: runId, session_id: project_id, key: "k1", score: 1, feedback_source: { type: "app" } });
  await give({ run_id: runId, session_id: project_id, key: "k2", comment: "text", created_at: "2020-01-01T00:00:00Z" });
  const keys = async (query: string) =>
    (await call("GET", `/feedback?session=${project_id}&${query}`)).json
      .map((item: { key: string }) => item.key)
      .sort();
  expect(await keys("")).toEqual(["k1", "k2", "summary"]);
  expect(await keys("key=k1&key=k2")).toEqual(["k1", "k2"]);
  expect(await keys("source=app")).toEqual(["k1"]);
  expect(await keys("level=session")).toEqual(["summary"]);
  expect(await keys("level=run&has_score=true")).toEqual(["k1"]);
  expect(await keys("has_comment=true")).toEqual(["k2"]);
  expect(await keys("max_created_at=2021-01-01")).toEqual(["k2"]);
  expect(await keys("limit=1&offset=2")).toEqual(["k2"]);
  expect((await call("GET", "/feedback?limit=0")).status).toBe(422);
  expect((await call("GET", "/feedback?run=nonsense")).status).toBe(422);
});

test("statistics contain counts, averages and the frequency of values", async () => {
  const { project_id, runId } = await arrive(uuid7(), "numbers");
  const entries = [
    { key: "score", score: 1, comment: "x" },
    { key: "score", score: 0, error: true },
    { key: "label", value: "red" },
    { key: "label", value: "red" },
    { key: "label", value: "blue", feedback_source: { type: "model" } },
  ];
  for (const entry of entries) await give({ run_id: runId, ...entry });
  await give({ session_id: project_id, key: "overall", score: 0.75 });
  const ofRun = (await feedbackStats(sql, WORKSPACE, "runs", [runId, uuid7()])).get(runId);
  expect(ofRun).toEqual({
    score: { n: 2, avg: 0.5, stdev: 0.5, min: 0, max: 1, errors: 1, values: {}, comments: ["x"], sources: ["api"] },
    label: {
      n: 3,
      avg: null,
      stdev: null,
      min: null,
      max: null,
      errors: 0,
      values: { red: 2, blue: 1 },
      comments: [],
      sources: ["api", "model"],
    },
  });
  expect((await feedbackStats(sql, WORKSPACE, "projects", [project_id])).get(project_id)).toEqual(ofRun);
  const onProject = (await feedbackStats(sql, WORKSPACE, "project_level", [project_id])).get(project_id);
  expect(onProject).toMatchObject({ overall: { n: 1, avg: 0.75 } });
  expect(await feedbackStats(sql, OTHER["x-test-workspace"], "runs", [runId])).toEqual(new Map());
});

test("feedback is invisible to other workspaces", async () => {
  const { runId, project_id } = await arrive();
  const { json } = await give({ run_id: runId, key: "mine", score: 1 });
  const path = `/feedback/${json.id}`;
  expect((await call("GET", path, undefined, OTHER)).status).toBe(404);
  expect((await call("PATCH", path, { score: 0 }, OTHER)).status).toBe(404);
  expect((await call("DELETE", path, undefined, OTHER)).status).toBe(404);
  expect((await call("GET", `/feedback?run=${runId}`, undefined, OTHER)).json).toEqual([]);
  expect((await give({ session_id: project_id, key: "k" }, OTHER)).status).toBe(404);
  // a run with that id may yet arrive in the other workspace; this run is not it
  const foreign = await give({ run_id: runId, session_id: project_id, key: "k" }, OTHER);
  expect(foreign.json).toMatchObject({ session_id: null, trace_id: null });
  expect((await call("GET", path)).json).toMatchObject({ score: 1 });
});

test("rejects invalid feedback with the reason", async () => {
  const run_id = uuid7();
  for (const [body, words] of [
    [{ run_id }, "key"],
    [{ key: "k" }, "run_id or session_id is required"],
    [{ run_id, key: "k".repeat(181) }, "key"],
    [{ run_id, key: "k", score: "high" }, "score"],
    [{ run_id: "no", key: "k" }, "must be a UUID"],
    [{ run_id, key: "k", start_time: "yesterday" }, "start_time"],
    [{ run_id, key: "k", feedback_source: { type: "dream" } }, "feedback_source"],
    [{ run_id, key: "k", score: 7, feedback_config: { type: "continuous", max: 5 } }, "at most 5"],
  ] as const) {
    const response = await give(body);
    expect({ body, status: response.status, detail: response.json.detail }).toEqual({
      body,
      status: 422,
      detail: expect.stringContaining(words),
    });
  }
  const infinite = `{"run_id": "${run_id}", "key": "k", "score": 1e999}`;
  expect((await call("POST", "/feedback", infinite)).status).toBe(422);
  expect((await give({ run_id, key: "k", comparative_experiment_id: uuid7() })).status).toBe(404);
  expect((await give({ run_id, key: "null bytes", comment: "a\0b" })).json.comment).toBe("a\uFFFDb");
});

test("a configuration belongs to its key: an equal one is accepted again, another is rejected", async () => {
  const config = {
    type: "categorical",
    categories: [
      { value: 0, label: "bad" },
      { value: 1, label: "good" },
    ],
  };
  const body = { feedback_key: "quality", feedback_config: config, is_lower_score_better: false };
  const created = await call("POST", "/feedback-configs", body);
  expect(created.json).toMatchObject({ ...body, tenant_id: WORKSPACE });
  const patched = await call("PATCH", "/feedback-configs", { feedback_key: "quality", is_lower_score_better: true });
  expect(patched.json).toMatchObject({ is_lower_score_better: true, feedback_config: config });
  expect((await call("POST", "/feedback-configs", body)).json).toEqual(patched.json);
  const other = await call("POST", "/feedback-configs", { ...body, feedback_config: { type: "freeform" } });
  expect(other.status).toBe(400);
  // the JavaScript SDK's spelling, sent with feedback
  const run_id = uuid7();
  await give({ run_id, key: "by feedback", score: 3, feedbackConfig: { type: "continuous", min: 0, max: 5 } });
  const listed = await call("GET", "/feedback-configs?key=by%20feedback&key=quality&limit=100");
  expect(listed.json.map((item: { feedback_key: string }) => item.feedback_key)).toEqual(["by feedback", "quality"]);
  const contradiction = { run_id, key: "quality", score: 1, feedback_config: { type: "continuous" } };
  expect((await give(contradiction)).status).toBe(400);

  expect((await call("GET", "/feedback-configs", undefined, OTHER)).json).toEqual([]);
  expect((await call("DELETE", "/feedback-configs?feedback_key=quality", undefined, OTHER)).status).toBe(404);
  expect((await call("DELETE", "/feedback-configs?feedback_key=quality")).status).toBe(204);
  expect((await call("DELETE", "/feedback-configs?feedback_key=quality")).status).toBe(404);
  expect((await call("PATCH", "/feedback-configs", { feedback_key: "quality" })).status).toBe(404);
});

test("feedback is deleted with its project or trace", async () => {
  const { runId, project_id } = await arrive(uuid7(), "to be deleted");
  await give({ run_id: runId, key: "k", score: 1 });
  const early = uuid7();
  await give({ run_id: early, key: "k", score: 1 });
  await deleteFeedbackOfProjects(sql, WORKSPACE, [project_id]);
  await deleteFeedbackOfTraces(sql, WORKSPACE, [early]);
  await deps.feedback.flush();
  expect(await copies(runId)).toEqual([]);
  expect(await copies(early)).toEqual([]);
});

test("names the authors of feedback on request", async () => {
  const user = uuid7();
  await sql`insert into users (id, email, full_name) values (${user}, 'ada@heddle.test', 'Ada')`;
  const run_id = uuid7();
  const body = createBody.parse({ run_id, key: "author", score: 1 });
  const [id] = await createFeedback(deps, { tenantId: WORKSPACE, userId: user }, [body]);
  await give({ run_id, key: "author", score: 0 });
  const names = (items: { feedback_source: { user_name: string | null } }[]) =>
    items.map((item) => item.feedback_source.user_name);
  const list = async (query: string) => names((await call("GET", `/feedback?run=${run_id}${query}`)).json);
  expect(await list("&include_user_names=true")).toEqual([null, "Ada"]);
  expect(await list("")).toEqual([null, null]);
  const read = async (query: string) => names([(await call("GET", `/feedback/${id}${query}`)).json]);
  expect([await read("?include_user_names=true"), await read("")]).toEqual([["Ada"], [null]]);
});

test("workspaces may use the same feedback id: a conflict in one is reported, whatever the other sends", async () => {
  const id = uuid7();
  expect((await give({ id, run_id: uuid7(), key: "k" })).status).toBe(200);
  const [other] = Object.values(OTHER);
  const row = (tenant_id: string) => {
    const empty = { session_id: null, trace_id: null, start_time: null, score: null, value: null, comment: null };
    const given = { correction: null, extra: null, source_type: "api", source_metadata: null, user_id: null };
    const links = { comparative_experiment_id: null, feedback_group_id: null, token_id: null, token_parameters: null };
    const rest = { created_at: null, extends_retention: true };
    return { tenant_id, feedback_id: id, key: "k", run_id: uuid7(), ...empty, ...given, ...links, ...rest };
  };
  // calls of one turn share a transaction
  const written = await Promise.allSettled(
    [WORKSPACE, other!].map((tenant) => deps.feedbackWriter.write([row(tenant)])),
  );
  expect(written).toMatchObject([{ status: "rejected", reason: { status: 409 } }, { status: "fulfilled" }]);
});

// last, because it stops the copying
test("feedback is accepted while ClickHouse is down, and copied when it recovers", async () => {
  const client = createClient({ url: "http://127.0.0.1:9", log: { level: ClickHouseLogLevel.OFF } });
  const clickhouse = new ClickHouse(client, { cluster: "", embedded: false });
  const feedback = new FeedbackMirror({
    sql,
    clickhouse,
    log: createLog("silent"),
    writer: deps.writer,
    ruleCandidates: deps.ruleCandidates,
  });
  await deps.feedback.stop();
  const runId = uuid7();
  const input = createBody.parse({ run_id: runId, key: "noted", score: 1 });
  await createFeedback({ ...deps, feedback }, { tenantId: WORKSPACE, userId: null }, [input]);
  await feedback.stop();
  expect(await sql`select 1 from feedback_changes where run_id = ${runId}`).toHaveLength(1);
  expect(await copies(runId)).toEqual([]);

  const back = new FeedbackMirror({ ...deps });
  back.start();
  await expect.poll(() => copies(runId)).toMatchObject([{ key: "noted" }]);
  await expect.poll(() => sql`select 1 from feedback_changes where run_id = ${runId}`).toHaveLength(0);
  await back.stop();
});
