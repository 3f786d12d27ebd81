import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";
import type { Pair, Results } from "./schema.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const { call } = await testTracePlatform();
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 12, 0, seconds)).toISOString();

let createdCount = 0;
async function uploaded(dataset: string, size: number) {
  const results = Array.from({ length: size }, (_, n) => ({
    inputs: { n },
    expected_outputs: { n },
    actual_outputs: { text: `answer ${n}` },
    start_time: at(n),
    end_time: at(n + 1),
  }));
  const body = {
    experiment_name: `pair ${++createdCount}`,
    experiment_start_time: at(0),
    experiment_end_time: at(60),
    dataset_name: dataset,
    results,
  };
  const { json } = await call("POST", "/datasets/upload-experiment", body);
  return json.experiment.id as string;
}

test("pairs are judged, undone and counted, as comparative feedback", async () => {
  const [a, b] = [await uploaded("pairs", 6), await uploaded("pairs", 6)];
  const { status, json: review } = await call("POST", "/datasets/comparative/reviews", {
    experiment_ids: [a, b],
    instructions: "Which is friendlier?",
  });
  expect(status).toBe(200);
  expect(review).toMatchObject({ experiment_ids: [a, b], key: "preference", instructions: "Which is friendlier?" });
  const path = `/datasets/comparative/${review.id}`;
  const open = async () => (await call("GET", `${path}/pairs?limit=20`)).json as { items: Pair[]; judged: number };
  const results = async () => (await call("GET", `${path}/results`)).json as Results;
  const { items } = await open();
  expect(items).toHaveLength(6);
  expect(items[0]).toMatchObject({ preferred: null, runs: [{ outputs: { text: expect.any(String) } }, {}] });
  // the order of the runs does not tell the experiment
  expect(new Set(items.map((item) => item.runs[0]!.experiment_id)).size).toBeGreaterThan(0);
  expect((await open()).items.map((item) => item.runs)).toEqual(items.map((item) => item.runs));

  const runOf = (item: Pair, experiment: string) => item.runs.find((run) => run.experiment_id === experiment)!.run_id;
  const judge = (item: Pair, preferred: string | null) =>
    call("PUT", `${path}/pairs/${item.example_id}`, { preferred });
  for (const item of items.slice(0, 4)) expect((await judge(item, runOf(item, b))).status).toBe(204);
  expect((await judge(items[4]!, null)).status).toBe(204);
  await judge(items[0]!, runOf(items[0]!, a));
  const found = await results();
  expect(found).toMatchObject({
    pairs: 6,
    keys: [
      {
        key: "preference",
        judged: 5,
        wins: [1, 3],
        ties: 1,
        win_rate: 0.7,
        agreement: null,
        reviewers: [{ reviewer: "local", kind: "person", judged: 5, wins: [1, 3], ties: 1 }],
      },
    ],
  });
  expect(found.keys[0]!.interval![0]).toBeLessThan(0.7);
  const left = await open();
  expect(left).toMatchObject({ judged: 5 });
  expect(left.items.map((item) => item.example_id)).toEqual([items[5]!.example_id]);

  const feedback = await call("GET", `/feedback?comparative_experiment_id=${review.id}`);
  expect(feedback.json).toHaveLength(10);
  const ofFirst = feedback.json.filter(({ run_id }: { run_id: string }) =>
    items[0]!.runs.some((run) => run.run_id === run_id),
  );
  expect(ofFirst.map((item: { score: number }) => item.score).toSorted()).toEqual([0, 1]);
  expect(ofFirst[0].feedback_group_id).toBe(ofFirst[1].feedback_group_id);
  expect(ofFirst[0].feedback_source.type).toBe("app");

  expect((await call("DELETE", `${path}/pairs/${items[0]!.example_id}`)).status).toBe(204);
  expect((await call("DELETE", `${path}/pairs/${items[0]!.example_id}`)).status).toBe(404);
  expect((await results()).keys[0]).toMatchObject({ judged: 4, wins: [0, 3], ties: 1 });
});

test("judgements of evaluators count beside those of people, and their agreement is measured", async () => {
  const [a, b] = [await uploaded("judged", 2), await uploaded("judged", 2)];
  const { json: review } = await call("POST", "/datasets/comparative/reviews", { experiment_ids: [a, b] });
  const path = `/datasets/comparative/${review.id}`;
  const { items } = (await call("GET", `${path}/pairs`)).json as { items: Pair[] };
  for (const [i, item] of items.entries()) {
    for (const run of item.runs) {
      const score = Number((run.experiment_id === b) === (i === 0));
      const feedback_source = { type: "model", metadata: { evaluator_id: "judge", evaluator_name: "Friendliness" } };
      const body = {
        run_id: run.run_id,
        key: "preference",
        score,
        comparative_experiment_id: review.id,
        feedback_source,
      };
      expect((await call("POST", "/feedback", body)).status).toBe(200);
    }
    const preferred = item.runs.find((run) => run.experiment_id === b)!.run_id;
    await call("PUT", `${path}/pairs/${item.example_id}`, { preferred, comment: "warmer" });
  }
  const { keys } = (await call("GET", `${path}/results`)).json as Results;
  expect(keys).toMatchObject([{ judged: 2, wins: [0, 1], ties: 1, win_rate: 0.75, agreement: 0.5 }]);
  expect(keys[0]!.reviewers.map(({ kind, name }) => [kind, name])).toEqual([
    ["judge", "Friendliness"],
    ["person", null],
  ]);
});

test("invalid reviews and judgements are rejected", async () => {
  const [a, b] = [await uploaded("invalid", 1), await uploaded("invalid", 1)];
  const elsewhere = await uploaded("elsewhere", 1);
  const create = async (body: object, headers = {}) =>
    (await call("POST", "/datasets/comparative/reviews", body, headers)).status;
  expect(await create({ experiment_ids: [a] })).toBe(422);
  expect(await create({ experiment_ids: [a, a] })).toBe(422);
  expect(await create({ experiment_ids: [a, elsewhere] })).toBe(422);
  expect(await create({ experiment_ids: [a, uuid7()] })).toBe(404);
  expect(await create({ experiment_ids: [a, b] }, OTHER)).toBe(404);
  const { json: review } = await call("POST", "/datasets/comparative/reviews", { experiment_ids: [a, b] });
  const path = `/datasets/comparative/${review.id}`;
  const { items } = (await call("GET", `${path}/pairs`)).json as { items: Pair[] };
  const pair = `${path}/pairs/${items[0]!.example_id}`;
  expect((await call("PUT", pair, { preferred: uuid7() })).status).toBe(422);
  expect((await call("PUT", pair, {})).status).toBe(422);
  expect((await call("PUT", `${path}/pairs/${uuid7()}`, { preferred: null })).status).toBe(404);
  expect((await call("PUT", pair, { preferred: null }, OTHER)).status).toBe(404);
  expect((await call("GET", `${path}/pairs`, undefined, OTHER)).status).toBe(404);
  expect((await call("GET", `${path}/results`, undefined, OTHER)).status).toBe(404);
  const { json: three } = await call("POST", "/datasets/comparative", { experiment_ids: [a] });
  expect((await call("GET", `/datasets/comparative/${three.id}/pairs`)).status).toBe(422);
});
