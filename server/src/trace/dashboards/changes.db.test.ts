import { expect, test } from "vitest";

import { microseconds, sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const NOW = Date.UTC(2026, 9, 20);
const DAY = 86_400_000;

// two days of traces; on the second, the tool of one plan fails, a new revision is slow, and a model is expensive
const roots: SampleRun[] = [];
const others: SampleRun[] = [];
const scores: { id: string; score: number }[] = [];
for (let i = 0; i < 800; i++) {
  const isNow = i >= 400;
  const start = NOW - 2 * DAY + i * (DAY / 400);
  const plan = ["free", "team", "pro", "max"][i % 4]!;
  const revision = isNow && i % 5 === 0 ? "r2" : "r1";
  const model = i % 3 === 0 ? "large" : "small";
  const fails = (isNow && plan === "pro" && i % 8 < 4) || i % 97 === 0;
  const noise = ((i * 7919) % 100) / 100;
  const root = sampleRun(
    "worse",
    {
      name: "agent",
      start_time: microseconds(start),
      tags: ["web"],
      extra: { metadata: { plan, region: `r${(i * 31) % 7}`, revision_id: revision, thread_id: `t${i}` } },
      ...(fails && { error: "TimeoutError: no" }),
    },
    { seconds: (revision === "r2" ? 6 : 2) + noise },
  );
  roots.push(root);
  const cost = (model === "large" ? (isNow ? 0.9 : 0.3) : 0.1) + noise / 100;
  others.push(
    sampleRun(
      "worse",
      {
        name: "model",
        run_type: "llm",
        start_time: root.start_time,
        extra: { metadata: { ls_model_name: model } },
        outputs: { usage_metadata: { input_tokens: 9, output_tokens: 1, total_tokens: 10, total_cost: cost } },
      },
      { parent: root, seconds: 0.5 },
    ),
    sampleRun(
      "worse",
      { name: plan === "pro" ? "crm" : "search", run_type: "tool", start_time: root.start_time },
      { parent: root },
    ),
  );
  if (i % 4 === 1)
    scores.push({ id: root.id, score: isNow && model === "large" ? 0.2 + noise / 10 : 0.8 + noise / 10 });
}
await sendRuns(call, [...roots, ...others]);
const project = await platform.deps.projects.ensureProject(TENANT, "worse");
for (const { id, score } of scores) await call("POST", "/feedback", { run_id: id, key: "helpful", score });
await platform.deps.feedback.flush();
const ask = async (body: object = {}) => {
  const period = { start_time: new Date(NOW - DAY).toISOString(), end_time: new Date(NOW).toISOString() };
  return call("POST", "/charts/changes", { session: [project], ...period, ...body });
};

test("each planted cause is found, in plain words, with a filter of its traces", async () => {
  const { json } = await ask();
  expect(json.traces).toEqual({ before: 400, now: 400 });
  const [errors, latency, cost, feedback] = json.changes;
  expect(errors).toMatchObject({ measure: "error_rate", verdict: "worse" });
  const [cause] = errors.causes;
  const named = [cause, ...cause.same_traces].map(({ dimension, value }) => `${dimension} ${value}`);
  expect(named.toSorted()).toEqual(["metadata pro", "tool crm"]);
  expect(cause.share).toBeGreaterThan(0.8);
  expect(cause.text).toMatch(/of the change is in traces with .*pro.* in 100 traces, 1 % before/);

  expect(latency).toMatchObject({ measure: "latency", verdict: "worse" });
  expect(latency.causes[0]).toMatchObject({ dimension: "revision", value: "r2", before: { n: 0, value: null } });
  expect(latency.text).toMatch(/^Mean latency rose from 2\.5 s to 3\.3 s \(\+3\d %\) over 400 traces\.$/);

  expect(cost.causes[0]).toMatchObject({ dimension: "model", value: "large" });
  expect(feedback).toMatchObject({ measure: "feedback", feedback_key: "helpful", verdict: "worse" });
  expect(feedback.causes[0]).toMatchObject({ dimension: "model", value: "large" });
  expect(feedback.text).toMatch(/^Mean score of helpful fell/);
  // nothing that is the same for all, or of chance
  const values = json.changes.flatMap(({ causes }: { causes: { value: string }[] }) =>
    causes.map(({ value }) => value),
  );
  for (const none of ["web", "agent", "r1", "small"]) expect(values).not.toContain(none);
  expect(json.events).toMatchObject([{ dimension: "revision", value: "r2" }]);

  for (const { causes } of json.changes) {
    for (const { filter, tree_filter, now } of causes) {
      const selection = { session: [project], is_root: true, start_time: json.start_time, end_time: json.end_time };
      const stats = await call("POST", "/runs/stats", { ...selection, filter, tree_filter });
      expect(stats.json.run_count).toBeGreaterThanOrEqual(now.n);
    }
  }
});

test("a period like the one before has no causes", async () => {
  const { json } = await ask({
    start_time: new Date(NOW - DAY * 1.5).toISOString(),
    end_time: new Date(NOW - DAY).toISOString(),
  });
  expect(json.changes.flatMap(({ causes }: { causes: unknown[] }) => causes)).toEqual([]);
  const none = await ask({ start_time: "2020-01-01", end_time: "2020-01-02" });
  expect(none.json).toMatchObject({ traces: { before: 0, now: 0 }, events: [] });
  expect((await ask({ start_time: "2026-10-21" })).status).toBe(422);
  expect((await ask({ session: ["00000000-0000-7000-8000-00000000beef"] })).status).toBe(404);
  expect((await ask({ filter: "eq(" })).status).toBe(400);
  const far = { start_time: "9999-12-30T00:00:00Z", end_time: "9999-12-31T00:00:00Z" };
  expect(await ask(far)).toMatchObject({ status: 422, json: { detail: "The period must be between 1900 and 2299." } });
});

test("revisions whose first traces are in a period are its events, in the workspace or in projects", async () => {
  const at = (days: number) => microseconds(NOW - days * DAY);
  const revised = (days: number, revision: string, project = "worse") =>
    sampleRun(project, { start_time: at(days), extra: { metadata: { revision_id: revision } } });
  await sendRuns(call, [
    revised(12, "old", "other"),
    revised(0.6, "old", "other"),
    revised(0.4, "<b>new</b>", "other"),
    revised(0.3, "<b>new</b>", "other"),
    revised(0.2, "", "other"),
    sampleRun("other", { start_time: at(0.1), extra: { metadata: {} } }),
  ]);
  const other = await platform.deps.projects.ensureProject(TENANT, "other");
  const events = (body: object) =>
    call("POST", "/charts/events", {
      start_time: new Date(NOW - DAY).toISOString(),
      end_time: new Date(NOW).toISOString(),
      ...body,
    });
  const { json } = await events({});
  expect(json.events.map(({ value }: { value: string }) => value)).toEqual(["r2", "old", "<b>new</b>"]);
  expect(json.events[2]).toMatchObject({
    dimension: "revision",
    session_id: other,
    session_name: "other",
    first_seen: at(0.4),
  });
  const values = async (body: object) => (await events(body)).json.events.map(({ value }: { value: string }) => value);
  expect(await values({ session: [project] })).toEqual(["r2"]);
  // a longer period has longer before: 12 days ago it was there
  expect(await values({ session: [other], start_time: new Date(NOW - 10 * DAY).toISOString() })).toEqual([
    "<b>new</b>",
  ]);
  expect(await values({ session: ["00000000-0000-7000-8000-00000000beef"] })).toEqual([]);
  expect((await events({ start_time: "9999-12-30" })).status).toBe(422);
  expect((await events({ session: [] })).status).toBe(422);
  const theirs = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
  const body = { start_time: new Date(NOW - DAY).toISOString() };
  expect((await call("POST", "/charts/events", body, theirs)).json).toEqual({ events: [] });
  expect((await call("DELETE", `/sessions/${other}`)).status).toBe(200);
  expect(await values({})).toEqual(["r2"]);
});
