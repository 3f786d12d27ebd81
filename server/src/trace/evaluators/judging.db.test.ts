import { expect, test } from "vitest";

import { modelServer } from "../../../test/model-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";
import { uuid7 } from "../../base/ids.ts";

const provider = await modelServer();
const { call, sql } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
const mine = { "x-test-workspace": uuid7() };

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const send = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown) =>
  call(method, path, body, mine) as Promise<{ status: number; json: Json; text: string }>;

await send("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
const { json: connection } = await send("POST", "/models/connections", {
  name: "fake",
  provider: "openai",
  settings: { base_url: `${provider.url}/v1` },
});
const model = (name: string) => ({ connection_id: connection.id as string, model: name });

let second = 0;
async function createRun(project: string, outputs: object, more: object = {}): Promise<string> {
  const id = uuid7();
  const start = new Date(Date.UTC(2026, 10, 27, 10, 0, second++)).toISOString();
  await send("POST", "/runs", {
    id,
    trace_id: id,
    name: "agent",
    run_type: "chain",
    start_time: start,
    end_time: start,
    dotted_order: `${start.replaceAll(/[-:.Z]/g, "")}000Z${id}`,
    session_name: project,
    inputs: { question: "2 + 2?" },
    outputs,
    ...more,
  });
  return id;
}

const code = (source: string, language = "javascript") => ({
  name: "length",
  type: "code",
  code_evaluator: { code: source, language },
});
const tryOn = (runIds: string[], evaluator: Json) =>
  send("POST", "/v1/platform/evaluators/try", { ...evaluator, run_ids: runIds });

async function create(body: Json): Promise<string> {
  const { status, json, text } = await send("POST", "/v1/platform/evaluators", body);
  expect(status, `${text}`).toBe(201);
  return json.evaluator.id;
}

test("evaluates by code in both languages, and reads all forms of results", async () => {
  const runId = await createRun("code", { answer: "four" });
  const forms: [string, Json][] = [
    ["return run.outputs.answer.length", [{ key: "length", score: 4, value: null, comment: null }]],
    ["return true", [{ key: "length", score: true, value: null, comment: null }]],
    [
      "return { a: 1, b: false, comment: 'why' }",
      [
        { key: "a", score: 1, value: null, comment: "why" },
        { key: "b", score: false, value: null, comment: "why" },
      ],
    ],
    [
      "return { key: 'k', score: 0.5, value: 'half', comment: 'c' }",
      [{ key: "k", score: 0.5, value: "half", comment: "c" }],
    ],
    [
      "return [{ key: 'x', score: 1 }, { key: 'y', value: 'red' }]",
      [
        { key: "x", score: 1, value: null, comment: null },
        { key: "y", score: null, value: "red", comment: null },
      ],
    ],
    ["return { results: [{ key: 'x', score: 1 }] }", [{ key: "x", score: 1, value: null, comment: null }]],
  ];
  for (const [body, feedback] of forms) {
    const { json, text } = await tryOn([runId], code(`function performEval(run) { ${body} }`));
    expect(json.results?.[0], `${body} ${text}`).toMatchObject({ error: null, feedback });
  }
  for (const [body, message] of [
    ["return null", "not null"],
    ["return []", "no score"],
    ["return [{ key: 'x', score: 1 }, { key: 'x', score: 2 }]", "twice"],
    ["return { a: { b: 1 } }", "is object"],
    ["throw new Error('broken')", "broken"],
  ] as const) {
    const { json } = await tryOn([runId], code(`function performEval(run) { ${body} }`));
    expect(json.results[0].error, `${body}`).toContain(message);
  }
  const python =
    "def perform_eval(run, example):\n    print('hi')\n    return {'short': len(run['outputs']['answer']) < 5}\n";
  const { json } = await tryOn([runId], code(python, "python"));
  expect(json.results[0]).toMatchObject({ error: null, feedback: [{ key: "short", score: true }], logs: "hi\n" });
  const { status, text } = await send("POST", "/v1/platform/evaluators", code("function performEval( {"));
  expect([status, text]).toEqual([422, expect.stringContaining("SyntaxError")]);
});

test("all code of the library runs in both languages and gives its key", async () => {
  const runId = await createRun("code", { messages: [{ role: "assistant", content: '{"a": 1} AB-1234 thank you' }] });
  const { json } = await send("GET", "/v1/platform/evaluators/library");
  const entries = json.evaluators.filter((entry: Json) => entry.type === "code");
  expect(entries.length).toBeGreaterThanOrEqual(6);
  for (const entry of entries) {
    for (const language of ["javascript", "python"] as const) {
      const { json: tried } = await tryOn([runId], code(entry.code[language], language));
      expect(tried.results[0], `${entry.id} ${language}`).toMatchObject({
        error: null,
        feedback: [{ key: entry.feedback_keys[0] }],
      });
    }
  }
});

test("ships a dozen judges with labelled examples, and measures them by a model", async () => {
  const { json } = await send("GET", "/v1/platform/evaluators/library");
  const judges = json.evaluators.filter((entry: Json) => entry.type === "llm");
  expect(judges.length).toBeGreaterThanOrEqual(12);
  for (const entry of judges) {
    expect(entry.labelled, `${entry.id}`).toBeGreaterThanOrEqual(10);
    const made = await send("POST", "/v1/platform/evaluators/from-library", {
      library_id: entry.id,
      model: model("m"),
    });
    expect(made.status, `${made.text}`).toBe(201);
    expect(made.json.evaluator).toMatchObject({ library_id: entry.id, subject: entry.subject });
  }
  // the fake model says yes to everything
  const checked = await send("POST", "/v1/platform/evaluators/library/toxicity/check", { model: model("m") });
  expect(checked.json).toMatchObject({ items: 10, errors: 0, kappa: 0, confusion: { categories: ["0", "1"] } });
  expect(checked.json.accuracy).toBeCloseTo(0.5);
  expect(checked.json.examples[0]).toMatchObject({ label: false, given: true, judge_run_id: expect.any(String) });
  const number = await send("POST", "/v1/platform/evaluators/library/helpfulness/check", { model: model("m") });
  // 42 is out of bounds
  expect(number.json).toMatchObject({ items: 0, errors: 10, accuracy: null });
});

test("judges all runs of an experiment once, also when it is asked again", async () => {
  const { json: dataset } = await send("POST", "/datasets", { name: "sums" });
  const { json: example } = await send("POST", "/examples", {
    dataset_id: dataset.id,
    inputs: { question: "2 + 2?" },
    outputs: { answer: "4" },
  });
  const { json: experiment } = await send("POST", "/sessions", { name: "exp-1", reference_dataset_id: dataset.id });
  const ids: string[] = [];
  for (let i = 0; i < 25; i++)
    ids.push(await createRun("exp-1", { answer: i % 2 ? "4" : "5" }, { reference_example_id: example.id }));
  const source =
    "function performEval({ outputs, referenceOutputs }) { return { right: outputs.answer === referenceOutputs.answer } }";
  const id = await create(code(source));
  const path = `/runs/experiments/${experiment.id}`;
  const done = (n: number) =>
    until(async () => {
      const { json } = await send("GET", `${path}/evaluations`);
      return json.evaluations.filter((each: Json) => each.status === "completed").length === n;
    });
  expect((await send("POST", `${path}/evaluate`, { evaluator_ids: [id] })).json.evaluations).toMatchObject([
    { version: 1 },
  ]);
  await done(1);
  const [evaluation] = (await send("GET", `${path}/evaluations`)).json.evaluations;
  expect(evaluation).toMatchObject({ total: 25, done: 25, errors: 0, evaluator_name: "length" });
  const count = async () =>
    Number(
      (await sql`select count(*) as n from feedback where key = 'right' and run_id = any(${ids}::uuid[])`)[0]!["n"],
    );
  expect(await count()).toBe(25);
  const rule = uuid7();
  await sql`insert into rules (tenant_id, rule_id, display_name, is_enabled, sampling_rate, idle_seconds, actions, evaluator_id, active_from)
    values (${mine["x-test-workspace"]}, ${rule}, 'r', true, 1, 60, '{"evaluator_version": 3}', ${id}, now())`;
  await send("POST", `${path}/evaluate`, { rule_id: rule });
  await done(2);
  expect(await count()).toBe(25);
  const { json: shown } = await send("GET", `/v1/platform/evaluators/${id}`);
  expect(shown).toMatchObject({ judgements: 25, feedback_keys: ["right"], run_rules: [{ id: rule }] });
  const today = new Date().toISOString().slice(0, 10);
  const { json: spend } = await send("GET", `/v1/platform/evaluators/spend?period_start=${today}&evaluator_id=${id}`);
  expect(spend.groups).toMatchObject([{ evaluator_id: id, total_trace_count: 25, prev_total_trace_count: 0 }]);
  expect(spend.groups[0].days).toEqual([{ date: today, spend_usd: 0, trace_count: 25 }]);
  expect((await send("GET", `/v1/platform/evaluators/spend?period_start=${today}`)).status).toBe(422);
  const pairs = await create({ ...code(source), name: "which", subject: "pair" });
  const refused = await send("POST", `${path}/evaluate`, { evaluator_ids: [id, pairs] });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('"which\\" compares two runs')]);
  expect((await send("POST", `${path}/evaluate`, {})).status).toBe(422);
  expect((await send("POST", `/runs/experiments/${uuid7()}/evaluate`, { evaluator_ids: [id] })).status).toBe(404);
});

test("compares judgements with people's labels by version, and makes a queue of them", async () => {
  const id = await create(code("function performEval(run) { return { ok: run.outputs.answer === '4' } }"));
  const { json: dataset } = await send("POST", "/datasets", { name: "alignment" });
  const { json: experiment } = await send("POST", "/sessions", { name: "exp-2", reference_dataset_id: dataset.id });
  const runs: string[] = [];
  for (const answer of ["4", "4", "4", "5", "5", "5"]) runs.push(await createRun("exp-2", { answer }));
  await send("POST", `/runs/experiments/${experiment.id}/evaluate`, { evaluator_ids: [id] });
  await until(async () => {
    const { json } = await send("GET", `/runs/experiments/${experiment.id}/evaluations`);
    return json.evaluations[0]?.status === "completed";
  });
  // people disagree on one of each
  for (const [i, score] of [1, 1, 0, 0, 1].entries()) {
    await send("POST", "/feedback", {
      run_id: runs[i],
      key: "ok",
      score,
      comment: `person ${i}`,
      feedback_source: { type: "app" },
    });
  }
  const { json: found } = await send("GET", `/feedback?run=${runs[5]}`);
  await send("PATCH", `/feedback/${found[0].id}`, { correction: { ok: false } });
  const path = `/v1/platform/evaluators/${id}/alignment`;
  const { json, text } = await send("GET", path);
  expect(json.keys, `${text}`).toMatchObject([
    {
      feedback_key: "ok",
      items: 6,
      kappa: expect.closeTo(1 / 3),
      accuracy: expect.closeTo(4 / 6),
      mean_absolute_error: expect.closeTo(2 / 6),
      confusion: {
        categories: ["0", "1"],
        counts: [
          [2, 1],
          [1, 2],
        ],
      },
      versions: [{ version: 1, items: 6 }],
    },
  ]);
  expect(json.disagreements.total).toBe(2);
  expect(
    json.disagreements.items.map((each: Json) => [each.judge.score, each.person.score, each.person.comment]).toSorted(),
  ).toEqual([
    [0, 1, "person 4"],
    [1, 0, "person 2"],
  ]);
  expect(json.disagreements.items.map((each: Json) => each.is_corrected)).toEqual([false, false]);
  const { json: list } = await send("GET", `/v1/platform/evaluators?resource_id=${uuid7()}&include_alignment=true`);
  expect(list).toEqual({ total: 0, evaluators: [] });
  const { json: all } = await send("GET", "/v1/platform/evaluators?include_alignment=true");
  expect(all.evaluators.find((each: Json) => each.id === id).alignment).toEqual({
    version: 1,
    items: 6,
    keys: [
      {
        feedback_key: "ok",
        items: 6,
        accuracy: expect.closeTo(4 / 6),
        kappa: expect.closeTo(1 / 3),
        mean_absolute_error: expect.closeTo(2 / 6),
      },
    ],
  });
  expect((await send("GET", "/v1/platform/evaluators")).json.evaluators[0]).not.toHaveProperty("alignment");
  expect((await send("GET", `${path}?version=2`)).json.keys).toEqual([]);
  expect((await send("GET", `${path}?dataset_id=${dataset.id}`)).json.keys[0].items).toBe(6);
  const { json: queue } = await send("POST", `/v1/platform/evaluators/${id}/alignment-queue`, {});
  expect(queue.added).toBe(6);
  const again = await send("POST", `/v1/platform/evaluators/${id}/alignment-queue`, {});
  expect(again.json.annotation_queue_id).toBe(queue.annotation_queue_id);
  expect((await send("GET", `${path}?annotation_queue_id=${queue.annotation_queue_id}`)).json.keys[0].items).toBe(6);
});
