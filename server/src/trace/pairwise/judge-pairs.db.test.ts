import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";
import type { JudgeJob } from "./judge-schema.ts";
import type { Results } from "./schema.ts";

const db = await testDatabase();
const first = await testTracePlatform({}, { db });
const { call, sql } = first;
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 12, 0, seconds)).toISOString();

let createdCount = 0;
async function uploaded(dataset: string, answers: string[]) {
  const body = {
    experiment_name: `judged ${++createdCount}`,
    experiment_start_time: at(0),
    experiment_end_time: at(60),
    dataset_name: dataset,
    results: answers.map((answer, n) => ({
      inputs: { n },
      expected_outputs: { n },
      actual_outputs: { answer },
      start_time: at(n),
      end_time: at(n + 1),
    })),
  };
  return (await call("POST", "/datasets/upload-experiment", body)).json.experiment.id as string;
}

async function evaluator(name: string, source: string, subject = "pair"): Promise<string> {
  const code = `function performEval(run, example, more) { ${source} }`;
  const body = { name, type: "code", subject, code_evaluator: { code, language: "javascript" } };
  const { json, status } = await call("POST", "/v1/platform/evaluators", body);
  expect(status).toBe(201);
  return json.evaluator.id;
}

async function review(dataset: string, a: string[], b: string[]) {
  const experiments = [await uploaded(dataset, a), await uploaded(dataset, b)];
  const { json } = await call("POST", "/datasets/comparative/reviews", { experiment_ids: experiments });
  return `/datasets/comparative/${json.id}`;
}

const jobs = async (path: string) => (await call("GET", `${path}/judges`)).json as JudgeJob[];
const LONGER = "const d = run.outputs.answer.length - more.other.outputs.answer.length;";
const PREFERS_LONGER = `${LONGER} return { key: "preference", score: d > 0 ? 1 : d < 0 ? 0 : 0.5, comment: "by length" };`;

test("an evaluator judges the pairs in the background, whichever side an experiment is on", async () => {
  const path = await review("sides", ["a", "aa", "aaa", "a"], ["aa", "aa", "a", "aaa"]);
  const evaluator_id = await evaluator("Longer", PREFERS_LONGER);
  const started = await call("POST", `${path}/judges`, { evaluator_id });
  expect(started.status).toBe(202);
  expect(started.json).toMatchObject({ status: "queued", total: 4, evaluator_version: 1 });
  await until(async () => (await jobs(path))[0]!.status === "completed");
  expect((await jobs(path))[0]).toMatchObject({ judged: 4, failed: 0, error: null });
  const { keys } = (await call("GET", `${path}/results`)).json as Results;
  expect(keys).toMatchObject([
    { key: "preference", judged: 4, wins: [1, 2], ties: 1, reviewers: [{ kind: "judge", name: "Longer", judged: 4 }] },
  ]);
  // once more changes nothing
  await call("POST", `${path}/judges`, { evaluator_id });
  await until(async () => (await jobs(path)).every(({ status }) => status === "completed"));
  const id = path.split("/").at(-1);
  expect((await call("GET", `/feedback?comparative_experiment_id=${id}&limit=100`)).json).toHaveLength(8);
});

test("a job of a process that died is continued by another, and judges no pair twice", async () => {
  const path = await review("resumed", ["a", "aa", "aaa"], ["aa", "a", "a"]);
  const evaluator_id = await evaluator("Longer still", PREFERS_LONGER);
  await call("POST", `${path}/judges`, { evaluator_id });
  await until(async () => (await jobs(path))[0]!.status === "completed");
  const id = path.split("/").at(-1)!;
  const before = (await call("GET", `/feedback?comparative_experiment_id=${id}&limit=100`)).json;
  expect(before).toHaveLength(6);
  // as it was when a process died between the two scores of a pair
  await sql`delete from feedback where feedback_id = ${before[0].id}`;
  await sql`update pairwise_jobs set status = 'running', leased_until = now() - interval '1 second'
    where comparative_experiment_id = ${id}`;
  const second = await testTracePlatform({}, { db });
  await until(async () => (await jobs(path))[0]!.status === "completed");
  const after = (await call("GET", `/feedback?comparative_experiment_id=${id}&limit=100`)).json;
  expect(after.map((item: { id: string }) => item.id).toSorted()).toEqual(
    before.map((item: { id: string }) => item.id).toSorted(),
  );
  await second.stop();
});

test("a failing evaluator ends its job with the reason, and jobs are cancelled", async () => {
  const many = Array.from({ length: 12 }, () => "a");
  const path = await review("failing", many, many);
  const broken = await evaluator("Broken", "throw new Error('no opinion')");
  await call("POST", `${path}/judges`, { evaluator_id: broken });
  await until(async () => (await jobs(path))[0]!.status === "failed");
  expect((await jobs(path))[0]!.error).toContain("no opinion");
  const ofRuns = await evaluator("Of runs", "return 1", "run");
  expect((await call("POST", `${path}/judges`, { evaluator_id: ofRuns })).status).toBe(422);
  expect((await call("POST", `${path}/judges`, { evaluator_id: crypto.randomUUID() })).status).toBe(404);
  await sql`update pairwise_jobs set status = 'queued', finished_at = null, not_before = now() + interval '1 hour'`;
  expect((await call("DELETE", `${path}/judges`)).json).toEqual({ cancelled: 1 });
  expect((await jobs(path))[0]!.status).toBe("cancelled");
});
