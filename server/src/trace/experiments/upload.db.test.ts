import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const { sql, call } = await testTracePlatform();

let createdCount = 0;
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 12, 0, seconds)).toISOString();

const upload = (more: object = {}) => ({
  experiment_name: `uploaded ${++createdCount}`,
  experiment_description: "from elsewhere",
  experiment_start_time: at(0),
  experiment_end_time: at(10),
  experiment_metadata: { model: "none" },
  dataset_name: `outside ${createdCount}`,
  dataset_description: "d",
  summary_experiment_scores: [{ key: "accuracy", score: 0.5, comment: "half" }],
  results: [1, 2].map((n) => ({
    inputs: { n },
    expected_outputs: { double: 2 * n },
    actual_outputs: { double: n === 1 ? 2 : 5 },
    evaluation_scores: [{ key: "correct", score: n === 1, comment: "compared" }],
    start_time: at(n),
    end_time: at(n + 2),
    run_name: "target",
    run_metadata: { attempt: n },
    ...(n === 2 && { error: "partly" }),
  })),
  ...more,
});

const count = async (experimentId: string) => {
  const { json } = await call("POST", "/runs/query", { session: [experimentId] });
  const feedback = await call("GET", `/feedback?session=${experimentId}`);
  return { runs: json.runs as Record<string, unknown>[], feedback: feedback.json as Record<string, unknown>[] };
};

test("an experiment is uploaded with its dataset, examples, runs and scores", async () => {
  const body = upload();
  const response = await call("POST", "/datasets/upload-experiment", body);
  expect(response.status).toBe(200);
  const { dataset, experiment } = response.json;
  expect(dataset).toMatchObject({ name: body.dataset_name, description: "d", example_count: 2, session_count: 1 });
  expect(experiment).toMatchObject({
    name: body.experiment_name,
    reference_dataset_id: dataset.id,
    run_count: 2,
    latency_p50: 2,
    feedback_stats: { correct: { n: 2, avg: 0.5 } },
    session_feedback_stats: { accuracy: { n: 1, avg: 0.5 } },
    extra: { metadata: { model: "none" } },
  });
  const { runs, feedback } = await count(experiment.id);
  expect(runs).toHaveLength(2);
  expect(feedback).toHaveLength(3);
  const failed = runs.find((run) => run["error"] === "partly")!;
  expect(failed).toMatchObject({ name: "target", inputs: { n: 2 }, outputs: { double: 5 }, status: "error" });
});

test("a repeated upload changes nothing, and completes an interrupted one", async () => {
  const body = upload();
  const first = (await call("POST", "/datasets/upload-experiment", body)).json;
  const [again, atOnce] = await Promise.all([
    call("POST", "/datasets/upload-experiment", body),
    call("POST", "/datasets/upload-experiment", body),
  ]);
  expect([again.json.experiment.id, atOnce.json.experiment.id]).toEqual([first.experiment.id, first.experiment.id]);
  expect(again.json.experiment.run_count).toBe(2);
  await sql`delete from feedback where session_id = ${first.experiment.id}`;
  await call("POST", "/datasets/upload-experiment", body);
  const { runs, feedback } = await count(first.experiment.id);
  expect([runs.length, feedback.length]).toEqual([2, 3]);
  expect((await call("GET", `/datasets/${first.dataset.id}`)).json.example_count).toBe(2);
  const other = await call("POST", "/datasets/upload-experiment", { ...body, results: body.results.slice(1) });
  expect(other.status).toBe(409);
  await call("POST", "/sessions", { name: "an agent" });
  const named = await call("POST", "/datasets/upload-experiment", upload({ experiment_name: "an agent" }));
  expect(named.status).toBe(409);
});

test("uploads to one dataset share the examples of equal rows, or those that they name", async () => {
  const first = (await call("POST", "/datasets/upload-experiment", upload())).json;
  const more = { dataset_name: null, dataset_id: first.dataset.id };
  const second = (await call("POST", "/datasets/upload-experiment", upload(more))).json;
  expect(second.dataset).toMatchObject({ id: first.dataset.id, example_count: 2, session_count: 2 });
  const { json: examples } = await call("GET", `/examples?dataset=${first.dataset.id}`);
  const results = examples.map((example: { id: string; inputs: object }) => ({
    row_id: example.id,
    inputs: { other: "inputs" },
    start_time: at(1),
    end_time: at(2),
  }));
  const third = await call("POST", "/datasets/upload-experiment", upload({ ...more, results }));
  expect(third.json.dataset).toMatchObject({ example_count: 2, session_count: 3 });
  // of another dataset
  const fourth = await call("POST", "/datasets/upload-experiment", upload({ results }));
  expect(fourth.status).toBe(409);
  const id = uuid7();
  const created = await call("POST", "/datasets/upload-experiment", upload({ dataset_name: null, dataset_id: id }));
  expect(created.json.dataset).toMatchObject({ id, example_count: 2 });
});

test("an invalid upload stores nothing", async () => {
  const [row] = upload().results;
  const bodies = [
    { dataset_name: null },
    { experiment_name: "" },
    { experiment_end_time: at(-5) },
    { results: [{ ...row, inputs: null }] },
    { results: [{ ...row, start_time: "yesterday" }] },
    { results: [{ ...row, end_time: at(-100) }] },
    { results: [{ ...row, row_id: "1" }] },
    { results: [row, { ...row, evaluation_scores: [{ score: 1 }] }] },
    { summary_experiment_scores: [{ key: "k".repeat(181), score: 1 }] },
    { results: "none" },
  ];
  const before = await sql`select count(*)::int as n from datasets`;
  for (const more of bodies) {
    const { status } = await call("POST", "/datasets/upload-experiment", upload(more));
    expect({ more, status }).toEqual({ more, status: 422 });
  }
  expect(await sql`select count(*)::int as n from datasets`).toEqual(before);
  const { json } = await call("POST", "/datasets/upload-experiment", upload());
  const foreign = upload({ dataset_name: null, dataset_id: json.dataset.id });
  // ids are unique in a workspace only
  const { json: own } = await call("POST", "/datasets/upload-experiment", foreign, OTHER);
  expect(own.dataset).toMatchObject({ id: json.dataset.id, session_count: 1 });
});

test("better and worse examples are listed by experiment, and streamed by key", async () => {
  const scored = (scores: number[]) => ({
    dataset_name: "deltas",
    results: scores.map((score, n) => ({
      inputs: { n },
      start_time: at(n),
      end_time: at(n + 1),
      evaluation_scores: [
        { key: "correct", score },
        { key: "length", score: 10 * score },
      ],
    })),
  });
  const base = (await call("POST", "/datasets/upload-experiment", upload(scored([0.5, 0.5, 0.5])))).json;
  const next = (await call("POST", "/datasets/upload-experiment", upload(scored([0.9, 0.1, 0.5])))).json;
  const { json: examples } = await call("GET", `/examples?dataset=${base.dataset.id}`);
  const example = (n: number) => examples.find(({ inputs }: { inputs: { n: number } }) => inputs.n === n).id as string;
  const ids = { baseline_session_id: base.experiment.id, comparison_session_ids: [next.experiment.id] };
  const path = `/datasets/${base.dataset.id}/runs/delta`;
  const whole = { improved_examples: [example(0)], regressed_examples: [example(1)] };
  expect((await call("POST", path, { ...ids, feedback_key: "correct" })).json).toEqual({
    feedback_deltas: { [next.experiment.id]: whole },
  });
  const filters = { [next.experiment.id]: ["gt(feedback_score, 0.4)"] };
  const filtered = await call("POST", path, { ...ids, feedback_key: "correct", filters });
  expect(filtered.json.feedback_deltas[next.experiment.id].improved_examples).toEqual([example(0)]);
  const config = { feedback_key: "length", feedback_config: { type: "continuous" }, is_lower_score_better: true };
  await call("POST", "/feedback-configs", config);
  const stream = await call("POST", `${path}/stream`, { ...ids, feedback_keys: ["correct", "length"] });
  const events = stream.text.split("\n\n").filter(Boolean);
  expect(events).toHaveLength(3);
  expect(events.at(-1)).toMatch(/^event: end/);
  const [first, second] = events.map((event) => JSON.parse(event.split("data: ")[1]!));
  expect(first).toEqual({ feedback_deltas: { correct: { [next.experiment.id]: whole } }, errors: null });
  expect(second.feedback_deltas.length[next.experiment.id]).toEqual({
    improved_examples: [example(1)],
    regressed_examples: [example(0)],
  });
  expect((await call("POST", path, { ...ids, feedback_key: "correct" }, OTHER)).status).toBe(404);
  expect((await call("POST", path, { ...ids, comparison_session_ids: [] })).status).toBe(422);

  const { json: share } = await call("PUT", `/datasets/${base.dataset.id}/share`);
  const shared = `/public/${share.share_token}/datasets`;
  expect((await call("POST", `${shared}/runs/delta`, { ...ids, feedback_key: "correct" })).json).toEqual({
    feedback_deltas: { [next.experiment.id]: whole },
  });
  expect((await call("POST", `${shared}/runs/delta/stream`, { ...ids, feedback_keys: ["correct"] })).text).toContain(
    example(0),
  );
  const { json: pair } = await call("POST", "/datasets/comparative", {
    experiment_ids: [base.experiment.id, next.experiment.id],
    name: "pair",
  });
  const comparisons = (await call("GET", `${shared}/comparative`)).json;
  expect(comparisons).toMatchObject([{ id: pair.id, name: "pair" }]);
  expect(comparisons[0]).not.toHaveProperty("tenant_id");
  const bulk = await call("GET", `/public/datasets/sessions-bulk?share_tokens=${share.share_token}`);
  expect(bulk.json.map((item: { id: string }) => item.id).toSorted()).toEqual(
    [base.experiment.id, next.experiment.id].toSorted(),
  );
  const unknown = uuid7();
  expect((await call("GET", `/public/datasets/sessions-bulk?share_tokens=${unknown}`)).status).toBe(404);
  expect((await call("POST", `/public/${unknown}/datasets/runs/delta`, { ...ids, feedback_key: "c" })).status).toBe(
    404,
  );
});

test("examples are grouped by metadata of their runs or their own, and experiments by theirs", async () => {
  const results = (models: string[]) =>
    models.map((model, n) => ({ inputs: { n }, start_time: at(n), end_time: at(n + 1), run_metadata: { model } }));
  const dataset_name = "grouped";
  const a = (
    await call("POST", "/datasets/upload-experiment", upload({ dataset_name, results: results(["x", "x", "y"]) }))
  ).json;
  const more = { dataset_name, results: results(["x", "y", "y"]), experiment_metadata: { model: "other" } };
  const b = (await call("POST", "/datasets/upload-experiment", upload(more))).json;
  const sessions = [a.experiment.id, b.experiment.id];
  const path = `/datasets/${a.dataset.id}/group/runs`;
  const order = { session_ids: sessions, group_by: "run_metadata", metadata_key: "model" };
  const response = await call("POST", path, order);
  expect(response.status).toBe(200);
  expect(response.json.groups).toMatchObject([
    { group_key: "x", count: 2, example_count: 1, sessions: [{ id: sessions[0], run_count: 1 }, { id: sessions[1] }] },
    { group_key: "y", count: 2, example_count: 1 },
  ]);
  expect(response.json.groups[0].filter).toBe(
    'and(eq(is_root, true), and(eq(metadata_key, "model"), eq(metadata_value, "x")))',
  );
  expect(response.json.groups[0].examples).toMatchObject([{ inputs: { n: 0 }, runs: [{ inputs: { n: 0 } }, {}] }]);
  const own = await call("POST", path, { ...order, group_by: "example_metadata", metadata_key: "dataset_split" });
  expect(own.json.groups).toEqual([]);
  const { json: examples } = await call("GET", `/examples?dataset=${a.dataset.id}`);
  await call("PATCH", `/examples/${examples[0].id}`, { metadata: { topic: "maths" } });
  const byTopic = await call("POST", path, { ...order, group_by: "example_metadata", metadata_key: "topic" });
  expect(byTopic.json.groups).toMatchObject([{ group_key: "maths", count: 2, examples: [{ id: examples[0].id }] }]);
  expect((await call("POST", path, { ...order, group_by: "day" })).status).toBe(422);
  expect((await call("POST", path, order, OTHER)).status).toBe(404);

  const grouped = await call("POST", `/datasets/${a.dataset.id}/experiments/grouped`, { metadata_keys: ["model"] });
  const events = grouped.text.split("\n\n").filter((event) => event.startsWith("event: data"));
  expect(events.map((event) => JSON.parse(event.split("data: ")[1]!))).toMatchObject([
    { metadata: { model: expect.any(String) }, experiment_count: 1, run_count: 3 },
    { metadata: { model: expect.any(String) }, experiment_count: 1, run_count: 3 },
  ]);
});

test("the average of grouped experiments is over their scores, not over judgements that failed", async () => {
  const dataset_name = "judged";
  const results = (scores: (number | null)[]) =>
    scores.map((score, n) => ({
      inputs: { n },
      start_time: at(n),
      end_time: at(n + 1),
      evaluation_scores: [score === null ? { key: "right", comment: "failed" } : { key: "right", score }],
    }));
  const one = upload({ dataset_name, results: results([1, ...Array<null>(9).fill(null)]) });
  const { dataset } = (await call("POST", "/datasets/upload-experiment", one)).json;
  const other = upload({ dataset_name, dataset_id: dataset.id, results: results(Array<number>(10).fill(0)) });
  expect((await call("POST", "/datasets/upload-experiment", other)).status).toBe(200);
  const grouped = await call("POST", `/datasets/${dataset.id}/experiments/grouped`, { metadata_keys: ["model"] });
  const event = grouped.text.split("\n\n").find((event) => event.startsWith("event: data"))!;
  const { experiment_count, feedback_stats } = JSON.parse(event.split("data: ")[1]!);
  expect({ experiment_count, feedback_stats }).toEqual({
    experiment_count: 2,
    feedback_stats: { right: { n: 20, avg: 1 / 11 } },
  });
});

test("how columns are shown is stored once per dataset", async () => {
  const { id } = (await call("POST", "/datasets", { name: "shown" })).json;
  const path = `/datasets/${id}/experiment-view-overrides`;
  expect((await call("GET", path)).json).toEqual([]);
  const column_overrides = [
    {
      column: "feedback.correct",
      color_gradient: [
        [0, "#ff0000"],
        [1, "#00ff00"],
      ],
      precision: 3,
    },
    { column: "inputs.n", hide: true },
  ];
  const created = await call("POST", path, { column_overrides });
  expect(created.status).toBe(201);
  expect(created.json).toMatchObject({ dataset_id: id, column_overrides });
  expect((await call("POST", path, { column_overrides })).status).toBe(409);
  const own = `${path}/${created.json.id}`;
  expect((await call("GET", own)).json).toEqual(created.json);
  const changed = await call("PATCH", own, { column_overrides: [{ column: "metrics.latency", hide: true }] });
  expect(changed.json.column_overrides).toEqual([{ column: "metrics.latency", hide: true }]);
  for (const invalid of [
    [],
    [{ column: "secrets" }],
    [{ column: "inputs" }, { column: "inputs" }],
    [{ column: "inputs", precision: 7 }],
    [{ column: "inputs", color_gradient: [[0, "red; background: url(x)"]] }],
  ]) {
    expect((await call("PATCH", own, { column_overrides: invalid })).status).toBe(422);
  }
  for (const method of ["GET", "DELETE"]) expect((await call(method, own, undefined, OTHER)).status).toBe(404);
  expect((await call("DELETE", own)).status).toBe(204);
  expect((await call("GET", own)).status).toBe(404);
});
