import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { createCaller } from "../../../test/call.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const { call, sql, platform } = await testTracePlatform();

function reviewer(id: string = randomUUID()) {
  const actor = { kind: "service_key" as const, id, name: "reviewer", userId: null };
  const guard = { ...openGuard, authenticator: { authenticate: () => ({ ...testPrincipal(), actor }) } };
  return createCaller(createTraceApp(platform.deps, guard));
}

let made = 0;
async function filled(count: number, body: object = {}) {
  const { json, status } = await call("POST", "/annotation-queues", { name: `reviewed ${++made}`, ...body });
  expect({ json, status }).toMatchObject({ status: 200 });
  const id = json.id as string;
  const runs = Array.from({ length: count }, (_, i) => sampleRun(`reviewed ${made}`, { inputs: { n: i } }));
  await sendRuns(call, runs);
  const ids = runs.map((run) => run.id);
  const added = await call("POST", `/annotation-queues/${id}/runs`, ids);
  return { id, runs: ids, items: (added.json as { id: string }[]).map((item) => item.id) };
}

const review = (queue: string, item: string, body: object, as = call, headers = {}) =>
  as("POST", `/annotation-queues/${queue}/runs/${item}/review`, body, headers);
const feedbackOf = async (run: string) => (await call("GET", `/feedback?run=${run}`)).json as Record<string, unknown>[];
const answer = (feedback_key: string, score: number | null, more: object = {}) => ({ feedback_key, score, ...more });

test("a review stores feedback, correction and status at once; sent again it changes nothing, changed it replaces", async () => {
  const { json: dataset } = await call("POST", "/datasets", { name: "corrected at once" });
  const { id, runs, items } = await filled(1, { default_dataset: dataset.id });
  const body = {
    answers: [answer("correct", 0), answer("kind", null, { value: "late" })],
    comment: " no ",
    correction: { answer: 1 },
  };
  const sent = await Promise.all(Array.from({ length: 3 }, () => review(id, items[0]!, body)));
  for (const each of sent)
    expect(each).toMatchObject({ status: 200, json: { is_archived: true, status: "completed" } });
  expect(new Set(sent.map((each) => JSON.stringify(each.json))).size).toBe(1);
  const given = await feedbackOf(runs[0]!);
  expect(given.toSorted((a, b) => String(a["key"]).localeCompare(String(b["key"])))).toMatchObject([
    { key: "correct", score: 0, comment: "no", correction: { answer: 1 }, feedback_source: { type: "app" } },
    { key: "kind", value: "late", comment: null },
  ]);
  const { example_id } = sent[0]!.json;
  const examples = `/examples?dataset=${dataset.id}`;
  expect((await call("GET", examples)).json).toMatchObject([
    { id: example_id, inputs: { n: 0 }, outputs: { answer: 1 }, source_run_id: runs[0] },
  ]);
  await review(id, items[0]!, { ...body, correction: { answer: 2 } });
  expect((await call("GET", examples)).json).toMatchObject([{ id: example_id, outputs: { answer: 2 } }]);
  // another reviewer's review is one of its own
  await review(id, items[0]!, { answers: [answer("correct", 1)] }, reviewer());
  expect(await feedbackOf(runs[0]!)).toHaveLength(3);
});

test("a review whose correction the dataset excludes stores nothing", async () => {
  const { json: dataset } = await call("POST", "/datasets", {
    name: "strict corrections",
    outputs_schema_definition: { type: "object", required: ["answer"] },
  });
  const { id, runs, items } = await filled(1, { default_dataset: dataset.id });
  const rejected = await review(id, items[0]!, { answers: [answer("correct", 0)], correction: { other: 1 } });
  expect(rejected).toMatchObject({ status: 422 });
  expect(await feedbackOf(runs[0]!)).toEqual([]);
  expect((await call("GET", `/annotation-queues/${id}/progress`)).json).toMatchObject({ completed: 0 });
  expect((await call("GET", `/examples?dataset=${dataset.id}`)).json).toEqual([]);
});

test("a correction takes the inputs that the dataset's mapping says, after its transformations", async () => {
  const { json: dataset } = await call("POST", "/datasets", { name: "mapped corrections" });
  await call("PUT", `/datasets/${dataset.id}/run-mapping`, { mapping: { inputs: { number: "inputs.n" } } });
  const { id, items } = await filled(1);
  await review(id, items[0]!, { correction: { a: 1 }, dataset_id: dataset.id });
  expect((await call("GET", `/examples?dataset=${dataset.id}`)).json).toMatchObject([{ inputs: { number: 0 } }]);
});

test("conditions, requirements, patterns and configurations of a rubric are enforced", async () => {
  await call("POST", "/feedback-configs", {
    feedback_key: "severity",
    feedback_config: {
      type: "categorical",
      categories: [
        { value: 1, label: "low" },
        { value: 2, label: "high" },
      ],
    },
  });
  const { json: config } = await call("GET", "/feedback-configs?key=severity");
  const rule = (key: string, op: string, ...values: number[]) => ({
    join: "all",
    rules: [{ key, op, ...(values.length > 0 && { values }) }],
  });
  const rubric_items = [
    { feedback_key: "correct", is_required: true },
    {
      feedback_key: "severity",
      visible_if: rule("correct", "is", 0),
      is_required: true,
      feedback_config_id: config[0].id,
    },
    { feedback_key: "ticket", required_if: rule("severity", "is_one_of", 2), regex_validator: "^[A-Z]+-\\d+$" },
    { feedback_key: "why", visible_if: rule("severity", "is_not_empty") },
  ];
  const { id, runs, items } = await filled(2, { rubric_items });
  const { json: stored } = await call("GET", `/annotation-queues/${id}`);
  expect(stored.rubric_items).toMatchObject([
    rubric_items[0],
    { ...rubric_items[1], feedback_config: { id: config[0].id, feedback_key: "severity" } },
    rubric_items[2],
    rubric_items[3],
  ]);
  // a rubric that was read is accepted as it is
  expect((await call("PATCH", `/annotation-queues/${id}`, { rubric_items: stored.rubric_items })).status).toBe(200);
  for (const [answers, word] of [
    [[], '"correct" is required'],
    [[answer("correct", 0)], '"severity" is required'],
    [[answer("correct", 1), answer("severity", 1)], '"severity" is hidden'],
    [[answer("correct", 0), answer("severity", 3)], "one of 1, 2"],
    [[answer("correct", 0), answer("severity", 2)], '"ticket" is required'],
    [[answer("correct", 0), answer("severity", 2), answer("ticket", null, { value: "x" })], "must match"],
    [[answer("correct", 1), answer("why", null, { value: "x" })], '"why" is hidden'],
    [[answer("correct", 1), answer("correct", 1)], "twice"],
    [[answer("correct", null, { preferred: "a" })], "pairs of runs"],
  ] as const) {
    const { status, text } = await review(id, items[0]!, { answers });
    expect({ status, text }).toMatchObject({
      status: 422,
      text: expect.stringContaining(JSON.stringify(word).slice(1, -1)),
    });
  }
  expect(await feedbackOf(runs[0]!)).toEqual([]);
  expect((await review(id, items[1]!, { answers: [answer("correct", 1)] })).status).toBe(200);
  const whole = [
    answer("correct", 0),
    answer("severity", 2),
    answer("ticket", null, { value: "AB-1" }),
    answer("why", null, { value: "w" }),
  ];
  expect((await review(id, items[0]!, { answers: whole })).status).toBe(200);
});

test("a pattern that never ends is stopped", async () => {
  const { id, items } = await filled(1, { rubric_items: [{ feedback_key: "t", regex_validator: "^(a+)+$" }] });
  const value = `${"a".repeat(40)}b`;
  const { status, text } = await review(id, items[0]!, { answers: [answer("t", null, { value })] });
  expect({ status, text }).toMatchObject({ status: 422, text: expect.stringContaining("takes too long") });
});

test.each([
  [[{ feedback_key: "a", visible_if: { join: "all", rules: [{ key: "b", op: "is_empty" }] } }], "no item"],
  [[{ feedback_key: "a", required_if: { join: "all", rules: [{ key: "a", op: "is_empty" }] } }], "itself"],
  [
    [
      { feedback_key: "a", visible_if: { join: "all", rules: [{ key: "b", op: "is_empty" }] } },
      { feedback_key: "b", visible_if: { join: "any", rules: [{ key: "a", op: "is_empty" }] } },
    ],
    "depends on itself",
  ],
  [
    [{ feedback_key: "a" }, { feedback_key: "b", visible_if: { join: "all", rules: [{ key: "a", op: "is" }] } }],
    "exactly one",
  ],
  [[{ feedback_key: "a", feedback_config_id: randomUUID() }], "no configuration"],
  [[{ feedback_key: "a", visible_if: { join: "none", rules: [] } }], "join"],
])("rejects the rubric %j", async (rubric_items, word) => {
  const { status, text } = await call("POST", "/annotation-queues", { name: "x", rubric_items });
  expect({ status, text }).toMatchObject({ status: 422, text: expect.stringContaining(word) });
});

test("pairs are judged by the better run, as feedback of one group", async () => {
  const { json: queue } = await call("POST", "/annotation-queues", { name: "pairs", queue_type: "pairwise" });
  expect((await call("GET", "/annotation-queues?queue_type=pairwise")).json).toMatchObject([{ id: queue.id }]);
  const runs = [sampleRun("left"), sampleRun("right"), sampleRun("right")];
  await sendRuns(call, runs);
  const [a, b, c] = runs.map((run) => run.id);
  const path = `/annotation-queues/${queue.id}/pairs`;
  const pairs = [
    { run_id: a, other_run_id: b },
    { run_id: a, other_run_id: c },
  ];
  const added = await call("POST", path, { pairs });
  expect(added.json.items).toMatchObject([
    { item_type: "PAIR", run_id: a, other_run_id: b },
    { run_id: a, other_run_id: c },
  ]);
  expect((await call("POST", path, { pairs })).json).toEqual(added.json);
  expect((await call("GET", `/annotation-queues/${a}/queues`)).json).toMatchObject([{ id: queue.id }]);
  expect((await call("POST", path, { pairs: [{ run_id: a, other_run_id: a }] })).status).toBe(422);
  expect((await call("POST", path, { pairs: [{ run_id: a, other_run_id: randomUUID() }] })).status).toBe(404);
  expect((await call("POST", `/annotation-queues/${queue.id}/runs`, [a])).status).toBe(422);
  const [first] = added.json.items as { id: string }[];
  const next = (await call("POST", `/annotation-queues/${queue.id}/next`)).json;
  expect(next).toMatchObject({ queue_run_id: first!.id, item_type: "PAIR", id: a, other_run_id: b });
  expect((await review(queue.id, first!.id, { answers: [answer("better", 1)] })).status).toBe(422);
  const answers = [
    { feedback_key: "better", preferred: "b" },
    { feedback_key: "kinder", preferred: "tie" },
  ];
  for (let i = 0; i < 2; i++) expect((await review(queue.id, first!.id, { answers, comment: "c" })).status).toBe(200);
  const [left, right] = [await feedbackOf(a!), await feedbackOf(b!)];
  expect([...left, ...right]).toHaveLength(4);
  const of = (list: Record<string, unknown>[], key: string) => list.find((each) => each["key"] === key)!;
  expect([of(left, "better")["score"], of(right, "better")["score"]]).toEqual([0, 1]);
  expect([of(left, "kinder")["score"], of(right, "kinder")["score"]]).toEqual([0.5, 0.5]);
  expect(of(left, "better")["feedback_group_id"]).toBe(of(right, "better")["feedback_group_id"]);
  const { id } = (await call("POST", "/annotation-queues", { name: "no pairs" })).json;
  expect((await call("POST", `/annotation-queues/${id}/pairs`, { pairs })).status).toBe(422);
});

test("a pairwise queue takes the runs of two experiments by their examples", async () => {
  const { json: dataset } = await call("POST", "/datasets", { name: "compared" });
  const examples = [];
  for (const n of [1, 2]) {
    examples.push((await call("POST", "/examples", { dataset_id: dataset.id, inputs: { n } })).json.id as string);
  }
  const session_ids = [];
  for (const name of ["first", "second"]) {
    const body = { name: `compared ${name}`, reference_dataset_id: dataset.id };
    session_ids.push((await call("POST", "/sessions", body)).json.id as string);
    await sendRuns(
      call,
      examples.map((reference_example_id) => sampleRun(body.name, { reference_example_id })),
    );
  }
  const { json: comparison } = await call("POST", "/datasets/comparative", {
    name: "c",
    experiment_ids: session_ids,
    reference_dataset_id: dataset.id,
  });
  const body = { name: "two", queue_type: "pairwise", session_ids, comparative_experiment_id: comparison.id };
  const made = await call("POST", "/annotation-queues", body);
  expect(made).toMatchObject({ status: 200, json: { comparative_experiment_id: comparison.id } });
  const again = await call("POST", "/annotation-queues/populate", { queue_id: made.json.id, session_ids });
  expect(again.json).toEqual({ matched: 2, added: 0 });
  const next = (await call("POST", `/annotation-queues/${made.json.id}/next`)).json;
  await review(made.json.id, next.queue_run_id, { answers: [{ feedback_key: "better", preferred: "a" }] });
  const given = (await call("GET", `/feedback?comparative_experiment_id=${comparison.id}`)).json;
  expect(given).toHaveLength(2);
  expect((await call("POST", "/annotation-queues", { ...body, session_ids: session_ids.slice(1) })).status).toBe(422);
  const foreign = { ...body, session_ids: [], comparative_experiment_id: randomUUID() };
  expect((await call("POST", "/annotation-queues", foreign)).status).toBe(404);
});

test("reviews of deleted runs, of other workspaces and of unknown items are rejected", async () => {
  const { id, runs, items } = await filled(1);
  const body = { answers: [answer("correct", 1)] };
  expect((await review(id, items[0]!, body, call, OTHER)).status).toBe(404);
  expect((await review(id, randomUUID(), body)).status).toBe(404);
  expect((await review(randomUUID(), items[0]!, body)).status).toBe(404);
  const { session_id } = (await call("GET", `/runs/${runs[0]}`)).json;
  await call("POST", "/runs/delete", { session_id, trace_ids: [runs[0]] });
  expect((await review(id, items[0]!, body)).status).toBe(409);
  expect(await sql`select 1 from feedback where run_id = ${runs[0]!}`).toHaveLength(0);
});
