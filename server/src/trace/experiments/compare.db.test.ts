import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";
import type { Comparison } from "./compare-schema.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const { sql, call } = await testTracePlatform();

let createdCount = 0;

async function dataset(size: number) {
  const { id } = (await call("POST", "/datasets", { name: `compared ${++createdCount}` })).json;
  const examples = Array.from({ length: size }, (_, n) => ({
    dataset_id: id,
    inputs: { n },
    outputs: { double: 2 * n },
    split: n % 2 === 0 ? "even" : "odd",
  }));
  const { json } = await call("POST", "/examples/bulk", examples);
  const byNumber = new Map<number, string>(
    json.map((item: { id: string; inputs: { n: number } }) => [item.inputs.n, item.id]),
  );
  return { id: id as string, examples: Array.from({ length: size }, (_, n) => byNumber.get(n)!) };
}

interface Result {
  example: string;
  score?: number | undefined;
  latencyMs?: number;
  error?: string;
  cost?: number;
}

/** Creates an experiment with a run per result. */
async function experiment(datasetId: string, results: Result[], key = "correct") {
  const [id, name] = [uuid7(), `experiment ${++createdCount}`];
  await sql`insert into projects (tenant_id, project_id, name, reference_dataset_id)
    values (${WORKSPACE}, ${id}, ${name}, ${datasetId})`;
  const start = Date.now();
  const runs = results.map(({ example, latencyMs = 100, error, cost }) => {
    const run = uuid7();
    const start_time = new Date(start).toISOString();
    const extra = cost === undefined ? {} : { metadata: { usage_metadata: usage(cost) } };
    return {
      id: run,
      trace_id: run,
      dotted_order: `${start_time.replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${run}`,
      name: "target",
      run_type: "llm",
      inputs: { of: example },
      outputs: error === undefined ? { text: `output of ${name}` } : null,
      error,
      start_time,
      end_time: new Date(start + latencyMs).toISOString(),
      session_id: id,
      reference_example_id: example,
      extra,
    };
  });
  expect((await call("POST", "/runs/batch", { post: runs })).status).toBe(202);
  for (const [i, { score }] of results.entries()) {
    if (score !== undefined) {
      await call("POST", "/feedback", { run_id: runs[i]!.id, trace_id: runs[i]!.id, session_id: id, key, score });
    }
  }
  return { id, name, runs: runs.map((run) => run.id) };
}

const usage = (cost: number) => ({
  input_tokens: 10,
  output_tokens: 5,
  total_tokens: 15,
  input_cost: cost,
  output_cost: 0,
  total_cost: cost,
});

async function compare(id: string, body: object): Promise<Comparison> {
  const response = await call("POST", `/datasets/${id}/experiments/compare`, body);
  expect(response.status).toBe(200);
  return response.json as Comparison;
}

test("experiments are compared with a baseline over the examples that both have", async () => {
  const { id, examples } = await dataset(8);
  const scores = (values: number[]) => examples.map((example, i) => ({ example, score: values[i]!, cost: 0.5 }));
  const base = await experiment(id, scores([1, 1, 1, 0, 0, 0, 1, 0]));
  const better = await experiment(id, [
    ...scores([1, 1, 1, 1, 1, 1, 1, 1]).map((result) => ({ ...result, latencyMs: 300 })),
    // a repetition is averaged with the first run of its example
    { example: examples[0]!, score: 0, cost: 0.5 },
  ]);
  const found = await compare(id, { baseline: base.id, experiments: [base.id, better.id] });
  expect(found).toMatchObject({ baseline: base.id, examples: 8, total: 8, next_cursor: null });
  expect(found.keys).toEqual([{ key: "correct", lower_is_better: false }]);
  const [first, second] = found.experiments;
  expect(first).toMatchObject({
    id: base.id,
    is_baseline: true,
    examples: 8,
    runs: 8,
    total_cost: 4,
    total_tokens: 120,
  });
  expect(first!.scores["correct"]).toMatchObject({ examples: 8, mean: 0.5, delta: null });
  expect(second).toMatchObject({ id: better.id, is_baseline: false, examples: 8, runs: 9 });
  expect(second!.scores["correct"]).toMatchObject({
    mean: 7.5 / 8,
    delta: { examples: 8, mean: 3.5 / 8, better: 4, same: 3, worse: 1, verdict: "no_clear_difference" },
  });
  const [low, high] = second!.scores["correct"]!.delta!.interval!;
  expect(low).toBeGreaterThanOrEqual(0);
  expect(high).toBeLessThan(1);
  expect(second!.metrics.latency_seconds).toMatchObject({ delta: { verdict: "worse", worse: 8 } });
  expect(second!.latency_p50).toBeCloseTo(0.3, 3);

  // the regression is first
  expect(found.rows[0]).toMatchObject({
    example_id: examples[0],
    reference_preview: expect.stringContaining("double"),
    results: {
      [base.id]: { run_id: base.runs[0], runs: 1, scores: { correct: 1 } },
      [better.id]: { runs: 2, scores: { correct: 0.5 }, score_deltas: { correct: -0.5 } },
    },
  });
  expect(found.rows[0]!.results[better.id]!.outputs_preview).toContain(better.name);
});

test("rows are filtered by their differences, sorted and paged", async () => {
  const { id, examples } = await dataset(6);
  const scored = (values: (number | undefined)[]) => examples.map((example, i) => ({ example, score: values[i] }));
  const base = await experiment(id, scored([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]));
  const a = await experiment(id, scored([0.4, 0.5, 0.9, 0.1, undefined, 0.5]));
  const b = await experiment(id, scored([0.5, 0.2, 0.5, 0.5, 0.5, 0.5]));
  const all = { baseline: base.id, experiments: [base.id, a.id, b.id], include: ["rows"] };
  const ids = async (more: object) => (await compare(id, { ...all, ...more })).rows.map((row) => row.example_id);

  const worse = { key: "correct", change: "worse" };
  expect(await ids({ filters: [{ ...worse, more_than: 0.15 }] })).toEqual([examples[3], examples[1]]);
  expect(await ids({ filters: [{ ...worse, experiment_id: b.id }] })).toEqual([examples[1]]);
  expect(await ids({ filters: [{ key: "correct", change: "better" }] })).toEqual([examples[2]]);
  const same = { key: "correct", change: "same", experiment_id: a.id };
  expect((await ids({ filters: [same] })).toSorted()).toEqual([examples[1]!, examples[5]!].toSorted());
  const byValue = { by: "value", key: "correct", experiment_id: a.id, descending: false };
  const sorted = await ids({ sort: byValue });
  expect(sorted[0]).toBe(examples[3]);
  expect(sorted.at(-1)).toBe(examples[4]);
  const page = await compare(id, { ...all, limit: 4 });
  expect(page).toMatchObject({ total: 6, next_cursor: "4", experiments: [] });
  const rest = await compare(id, { ...all, limit: 4, cursor: "4" });
  expect(new Set([...page.rows, ...rest.rows].map((row) => row.example_id)).size).toBe(6);
  expect(rest.next_cursor).toBeNull();
  expect(await ids({ splits: ["even"] })).toHaveLength(3);
});

test("a key may be better when lower, errors count, and comparative feedback is left out", async () => {
  const { id, examples } = await dataset(6);
  const base = await experiment(
    id,
    examples.map((example) => ({ example, score: 3 })),
    "mistakes",
  );
  const next = await experiment(
    id,
    examples.map((example, i) => ({ example, score: 1, ...(i === 0 && { error: "boom" }) })),
    "mistakes",
  );
  const config = { feedback_key: "mistakes", feedback_config: { type: "continuous" }, is_lower_score_better: true };
  expect((await call("POST", "/feedback-configs", config)).status).toBe(200);
  const { json: pair } = await call("POST", "/datasets/comparative", { experiment_ids: [base.id, next.id] });
  await call("POST", "/feedback", {
    run_id: base.runs[0],
    key: "preferred",
    score: 1,
    comparative_experiment_id: pair.id,
  });
  const found = await compare(id, { experiments: [base.id, next.id] });
  expect(found.baseline).toBe(base.id);
  expect(found.keys).toEqual([{ key: "mistakes", lower_is_better: true }]);
  expect(found.experiments[1]!.scores["mistakes"]!.delta).toMatchObject({ mean: -2, better: 6, verdict: "better" });
  expect(found.experiments[1]).toMatchObject({ errors: 1, metrics: { error_rate: { delta: { worse: 1 } } } });
  expect(found.rows[0]).toMatchObject({ example_id: examples[0], results: { [next.id]: { error: "boom" } } });

  const history = await call("GET", `/datasets/${id}/experiments/history?key=mistakes`);
  expect(history.status).toBe(200);
  expect(history.json.experiments.map((item: { id: string }) => item.id)).toEqual([base.id, next.id]);
  expect(history.json.experiments[1]).toMatchObject({
    runs: 6,
    scores: { mistakes: { examples: 6, mean: 1, interval: [1, 1] } },
  });
  const whole = await call("GET", `/datasets/${id}/experiments/history`);
  expect(whole.json.keys.map((item: { key: string }) => item.key)).toEqual(["mistakes"]);
});

test("the history has the averages of the comparison, also of a key that judges pairs as well", async () => {
  const { id, examples } = await dataset(2);
  const results = examples.map((example) => ({ example, score: 1 }));
  const [base, next] = [await experiment(id, results, "better"), await experiment(id, results, "better")];
  const pair = (await call("POST", "/datasets/comparative", { experiment_ids: [base.id, next.id] })).json;
  for (const run_id of next.runs) {
    const judged = { run_id, key: "better", score: 0, comparative_experiment_id: pair.id };
    expect((await call("POST", "/feedback", judged)).status).toBe(200);
  }
  const compared = await compare(id, { experiments: [base.id, next.id] });
  expect(compared.experiments.map(({ scores }) => scores["better"]!.mean)).toEqual([1, 1]);
  const { experiments } = (await call("GET", `/datasets/${id}/experiments/history`)).json;
  expect(experiments.map((item: { scores: Record<string, { mean: number }> }) => item.scores["better"]!.mean)).toEqual([
    1, 1,
  ]);
});

test("a dataset has a baseline, which must be an experiment on it", async () => {
  const { id, examples } = await dataset(2);
  const a = await experiment(
    id,
    examples.map((example) => ({ example, score: 1 })),
  );
  const b = await experiment(
    id,
    examples.map((example) => ({ example, score: 0 })),
  );
  const path = `/datasets/${id}/baseline`;
  expect((await call("PUT", path, { experiment_id: b.id })).json).toEqual({
    dataset_id: id,
    baseline_experiment_id: b.id,
  });
  expect((await call("GET", `/datasets/${id}`)).json.baseline_experiment_id).toBe(b.id);
  const found = await compare(id, { experiments: [a.id, b.id] });
  expect(found.baseline).toBe(b.id);
  expect(found.experiments[0]!.scores["correct"]!.delta).toMatchObject({ mean: 1, verdict: "too_few_examples" });
  const elsewhere = await experiment((await dataset(1)).id, []);
  expect((await call("PUT", path, { experiment_id: elsewhere.id })).status).toBe(422);
  expect((await call("PUT", path, { experiment_id: uuid7() })).status).toBe(404);
  expect((await call("PUT", path, { experiment_id: null }, OTHER)).status).toBe(404);
  expect((await call("PUT", path, { experiment_id: null })).json.baseline_experiment_id).toBeNull();
});

test("invalid requests are rejected", async () => {
  const { id, examples } = await dataset(1);
  const a = await experiment(id, [{ example: examples[0]!, score: 1 }]);
  const elsewhere = await experiment((await dataset(1)).id, []);
  const path = `/datasets/${id}/experiments/compare`;
  const statuses = async (...bodies: object[]) =>
    Promise.all(bodies.map(async (body) => (await call("POST", path, body)).status));
  expect(
    await statuses(
      {},
      { experiments: [] },
      { experiments: Array.from({ length: 11 }, uuid7) },
      { experiments: [a.id], limit: 501 },
      { experiments: [a.id], cursor: "x" },
      { experiments: [a.id], filters: [{ change: "worse" }] },
      { experiments: [a.id], filters: [{ key: "a", metric: "total_cost", change: "worse" }] },
      { experiments: [a.id], filters: [{ key: "a", change: "worse", experiment_id: uuid7() }] },
      { experiments: [a.id], sort: { by: "delta" } },
      { experiments: [elsewhere.id] },
    ),
  ).toEqual(Array.from({ length: 10 }, () => 422));
  expect(await statuses({ experiments: [uuid7()] })).toEqual([404]);
  expect((await call("POST", path, { experiments: [a.id] }, OTHER)).status).toBe(404);
  expect((await call("POST", `/datasets/${uuid7()}/experiments/compare`, { experiments: [a.id] })).status).toBe(404);
});

test("examples with their runs are sorted by the score of one experiment", async () => {
  const { id, examples } = await dataset(4);
  const scores = [0.2, 0.9, undefined, 0.5];
  const a = await experiment(
    id,
    examples.map((example, i) => ({ example, score: scores[i] })),
  );
  const sorted = [1, 3, 0, 2].map((n) => examples[n]!);
  const v1 = async (more: object) => {
    const body = { session_ids: [a.id], sort_params: { sort_by: "feedback.correct" }, ...more };
    return (await call("POST", `/datasets/${id}/runs`, body)).json.map((item: { id: string }) => item.id);
  };
  expect(await v1({})).toEqual(sorted);
  expect(await v1({ limit: 2, offset: 1 })).toEqual(sorted.slice(1, 3));
  const v2 = await call("POST", `/api/v2/datasets/${id}/experiment-runs`, {
    experiment_ids: [a.id],
    selects: ["ID"],
    sort: { by: "correct", order: "ASC" },
  });
  expect(v2.json.items.map((item: { id: string }) => item.id)).toEqual([0, 3, 1, 2].map((n) => examples[n]!));
  const two = { session_ids: [a.id, (await experiment(id, [])).id], sort_params: { sort_by: "correct" } };
  expect((await call("POST", `/datasets/${id}/runs`, two)).status).toBe(422);
});
