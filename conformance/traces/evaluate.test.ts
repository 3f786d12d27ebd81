import { evaluate, evaluateComparative } from "langsmith/evaluation";
import { expect, test } from "vitest";

import { all, client, unique, url } from "./client.ts";

async function dataset() {
  const made = await client.createDataset(unique("evaluated"));
  await client.createExamples([
    { dataset_id: made.id, inputs: { n: 1 }, outputs: { double: 2 }, split: "easy" },
    { dataset_id: made.id, inputs: { n: 2 }, outputs: { double: 4 }, split: "easy" },
    { dataset_id: made.id, inputs: { n: 3 }, outputs: { double: 7 }, split: "hard" },
  ]);
  return made;
}

const double = async ({ n }: { n: number }) => ({ double: n * 2 });
const isCorrect = ({ outputs, referenceOutputs }: { outputs: object; referenceOutputs?: object }) => ({
  key: "correct",
  score: JSON.stringify(outputs) === JSON.stringify(referenceOutputs),
  comment: "compared",
});
const accuracy = ({ outputs, referenceOutputs }: { outputs: object[]; referenceOutputs?: object[] }) => ({
  key: "accuracy",
  score:
    outputs.filter((output, i) => JSON.stringify(output) === JSON.stringify(referenceOutputs?.[i])).length /
    outputs.length,
});

test("evaluate() runs a target over a dataset and leaves an experiment with feedback", async () => {
  const { name, id } = await dataset();
  const results = await evaluate(double, {
    data: name,
    evaluators: [isCorrect],
    summaryEvaluators: [accuracy],
    experimentPrefix: unique("experiment"),
    metadata: { model: "none" },
    client,
    maxConcurrency: 2,
  });
  expect(results.results).toHaveLength(3);
  expect(results.results.every((row) => row.run.outputs?.["double"] === row.example.inputs["n"] * 2)).toBe(true);
  await client.awaitPendingTraceBatches();

  const projectName = results.experimentName;
  const project = await client.readProject({ projectName, includeStats: true });
  expect(project).toMatchObject({ reference_dataset_id: id, run_count: 3 });
  expect(project.extra?.["metadata"]).toMatchObject({
    model: "none",
    dataset_splits: expect.arrayContaining(["easy"]),
  });
  expect(project.feedback_stats).toMatchObject({ correct: { n: 3, avg: expect.closeTo(2 / 3, 5) } });
  const { session_feedback_stats: summary } = project as typeof project & { session_feedback_stats: object };
  // the SDK sends four digits
  expect(summary).toMatchObject({ accuracy: { n: 1, avg: 0.6667 } });

  const runs = await all(client.listRuns({ projectName, isRoot: true }));
  expect(new Set(runs.map((run) => run.reference_example_id))).toEqual(
    new Set(results.results.map((row) => row.example.id)),
  );
  const feedback = await all(client.listFeedback({ runIds: runs.map((run) => run.id) }));
  expect(feedback).toHaveLength(3);
  expect(feedback[0]).toMatchObject({ key: "correct", comment: "compared", feedback_source: { type: "model" } });
  // the evaluator was traced too, and the feedback links to its trace
  const { run_id: evaluator } = feedback[0]!.feedback_source!.metadata!["__run"] as { run_id: string };
  expect((await client.readRun(evaluator)).id).toBe(evaluator);
  expect(await client.readDataset({ datasetId: id })).toMatchObject({ session_count: 1 });
  const experiments = await all(client.listProjects({ referenceDatasetId: id }));
  const rows = await all(
    client.datasets.experimentRuns.query(id, {
      experiment_ids: [project.id],
      selects: ["ID", "OUTPUTS"],
      page_size: 2,
    }),
  );
  expect(rows.map((row) => row.runs?.map((run) => run.id))).toEqual(
    rows.map((row) => runs.filter((run) => run.reference_example_id === row.id).map((run) => run.id)),
  );
  expect(rows).toHaveLength(3);
  expect(experiments.map((experiment) => experiment.name)).toEqual([projectName]);
});

test("evaluate() respects repetitions and splits, and a duplicate project name is a conflict", async () => {
  const { name, id } = await dataset();
  const results = await evaluate(double, {
    data: client.listExamples({ datasetId: id, splits: ["easy"] }),
    experimentPrefix: unique("repeated"),
    numRepetitions: 2,
    client,
  });
  expect(results.results).toHaveLength(4);
  // evaluate() retries with another name on this error
  await expect(client.createProject({ projectName: results.experimentName })).rejects.toMatchObject({
    name: "LangSmithConflictError",
  });
  await client.awaitPendingTraceBatches();
  const { example_count: count } = await client.readDataset({ datasetName: name });
  expect(count).toBe(3);
});

test("two experiments are compared", async () => {
  const { name } = await dataset();
  const options = { data: name, client };
  const first = await evaluate(double, { ...options, experimentPrefix: unique("a") });
  const second = await evaluate(async ({ n }: { n: number }) => ({ double: n + n + 1 }), {
    ...options,
    experimentPrefix: unique("b"),
  });
  await client.awaitPendingTraceBatches();
  const prefersFirst = ({ runs }: { runs: { id: string }[] }) => ({
    key: "preferred",
    scores: Object.fromEntries(runs.map((run, i) => [run.id, i === 0 ? 1 : 0])),
  });
  const compared = await evaluateComparative([first.experimentName, second.experimentName], {
    evaluators: [prefersFirst as never],
    experimentPrefix: unique("compared"),
    client,
  });
  expect(compared.results).toHaveLength(3);
  const runs = await all(client.listRuns({ projectName: first.experimentName, isRoot: true }));
  const feedback = await all(client.listFeedback({ runIds: runs.map((run) => run.id), feedbackKeys: ["preferred"] }));
  expect(feedback.map((entry) => entry.score)).toEqual([1, 1, 1]);
});

/** Calls routes of the contract that the client has no method for. */
async function ask(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", "x-api-key": "none" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

test("an uploaded experiment is read by the client, and its deltas to another by the contract's routes", async () => {
  const dataset_name = unique("outside");
  const upload = async (scores: number[]) => {
    const results = scores.map((score, n) => ({
      inputs: { n },
      expected_outputs: { double: 2 * n },
      actual_outputs: { double: 2 * n },
      evaluation_scores: [{ key: "correct", score }],
      start_time: `2026-11-01T12:00:0${n}Z`,
      end_time: `2026-11-01T12:00:0${n + 1}Z`,
    }));
    const body = {
      experiment_name: unique("uploaded"),
      experiment_start_time: "2026-11-01T12:00:00Z",
      experiment_end_time: "2026-11-01T12:01:00Z",
      dataset_name,
      summary_experiment_scores: [{ key: "accuracy", score: 0.5 }],
      results,
    };
    const answers = [await ask("POST", "/datasets/upload-experiment", body)];
    // as after a lost answer
    answers.push(await ask("POST", "/api/v1/datasets/upload-experiment", body));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [first, second] = answers.map(({ text }) => JSON.parse(text) as { experiment: { id: string } });
    expect(second!.experiment.id).toBe(first!.experiment.id);
    return first!.experiment.id;
  };
  const [a, b] = [await upload([1, 0, 1]), await upload([0, 1, 1])];
  const { id } = await client.readDataset({ datasetName: dataset_name });
  expect(await all(client.listExamples({ datasetId: id }))).toHaveLength(3);
  const project = await client.readProject({ projectId: a, includeStats: true });
  expect(project).toMatchObject({ run_count: 3, feedback_stats: { correct: { n: 3 } } });
  const runs = await all(client.listRuns({ projectId: a, isRoot: true }));
  expect(runs.map((run) => run.outputs?.["double"]).toSorted()).toEqual([0, 2, 4]);

  const ids = { baseline_session_id: a, comparison_session_ids: [b] };
  const delta = await ask("POST", `/datasets/${id}/runs/delta`, { ...ids, feedback_key: "correct" });
  const { feedback_deltas: deltas } = JSON.parse(delta.text) as { feedback_deltas: Record<string, object> };
  expect(deltas[b]).toMatchObject({ improved_examples: { length: 1 }, regressed_examples: { length: 1 } });
  const stream = await ask("POST", `/datasets/${id}/runs/delta/stream`, { ...ids, feedback_keys: ["correct"] });
  expect(stream.text).toMatch(/^event: data\ndata: .*\n\nevent: end/);
  const grouped = await ask("POST", `/datasets/${id}/experiments/grouped`, { metadata_keys: ["model"] });
  expect(grouped.status).toBe(200);
  const group = { session_ids: [a, b], group_by: "example_metadata", metadata_key: "none" };
  expect((await ask("POST", `/datasets/${id}/group/runs`, group)).text).toBe('{"groups":[]}');
  const overrides = `/v1/platform/datasets/${id}/experiment-view-overrides`;
  const created = await ask("POST", overrides, { column_overrides: [{ column: "inputs.n", hide: true }] });
  expect(created.status).toBe(201);
  expect(JSON.parse((await ask("GET", overrides)).text)).toEqual([JSON.parse(created.text)]);
});
