import { evaluate, evaluateComparative } from "langsmith/evaluation";
import { expect, test } from "vitest";

import { all, client, unique } from "./client.ts";

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
