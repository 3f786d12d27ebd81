import { expect, test, vi } from "vitest";

import { modelServer } from "../../../test/model-server.ts";
import { sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testDatabase } from "../../../test/db.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const provider = await modelServer();
const db = await testDatabase();
const env = {
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}`,
  HEDDLE_SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
};
const { call, sql } = await testTracePlatform(env, { db });
// a second replica acts on the same matches
await testTracePlatform(env, { db });

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

async function ok(method: string, path: string, body?: unknown, status = 200): Promise<Json> {
  const answer = await call(method, path, body);
  expect({ path, status: answer.status, json: answer.json }).toMatchObject({ status });
  return answer.json;
}

await call("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
const connection = await ok("POST", "/models/connections", {
  name: "fake",
  provider: "openai",
  settings: { base_url: `${provider.url}/v1` },
});
await call("POST", "/model-price-map", {
  name: "scripted",
  match_pattern: "^scripted$",
  prompt_cost: "0.01",
  completion_cost: "0.01",
});

let created = 0;
async function evaluator(model = "scripted"): Promise<string> {
  const { evaluator: made } = await ok(
    "POST",
    "/v1/platform/evaluators",
    {
      name: `correctness ${++created}`,
      type: "llm",
      llm_evaluator: {
        prompt: [{ role: "user", content: "Answer: {{answer}}" }],
        variable_mapping: { answer: "output.answer" },
        model: { connection_id: connection.id, model },
        scores: [{ key: "correct", type: "boolean", description: "" }],
      },
    },
    201,
  );
  return made.id as string;
}

async function project(): Promise<{ id: string; name: string }> {
  const name = `judged ${++created}`;
  return { id: (await ok("POST", "/sessions", { name })).id as string, name };
}

const SCRIPT = 'yes [[{"reasoning":"It is.","correct":true}]]';

async function runs(name: string, count: number): Promise<SampleRun[]> {
  const list = Array.from({ length: count }, () => {
    const start_time = `${new Date(Date.now() - 60_000 + ++created).toISOString().slice(0, 23)}000Z`;
    return sampleRun(name, { start_time, outputs: { answer: SCRIPT } });
  });
  await sendRuns(call, list);
  return list;
}

async function settled(id: string, count: number): Promise<Json[]> {
  let found: Json[] = [];
  await vi.waitFor(
    async () => {
      found = (await ok("GET", `/runs/rules/${id}/logs/v2`)).logs;
      expect(found.map((row) => row.status)).not.toContain("pending");
      expect(found).toHaveLength(count);
    },
    { timeout: 30_000, interval: 100 },
  );
  return found;
}

const rule = async (body: Record<string, unknown>): Promise<string> =>
  (await ok("POST", "/runs/rules", { display_name: `rule ${++created}`, sampling_rate: 1, ...body })).id as string;

test("judges each matching run once, with feedback that names the rule, and a log with the cost", async () => {
  const { id, name } = await project();
  const ruleId = await rule({ session_id: id, evaluator_id: await evaluator() });
  const list = await runs(name, 5);
  const entries = await settled(ruleId, 5);
  for (const entry of entries) {
    expect(entry).toMatchObject({ status: "done", evaluators: { outcome: "success" } });
    expect(Number(entry.cost_usd)).toBeGreaterThan(0);
    expect(entry.evaluators.payload.judgements).toMatchObject([{ feedback: [{ key: "correct", score: true }] }]);
  }
  const feedback: Json[] = await ok("GET", `/feedback?${list.map((run) => `run=${run.id}`).join("&")}`);
  expect(feedback).toHaveLength(5);
  expect(feedback[0]).toMatchObject({ key: "correct", feedback_source: { metadata: { rule_id: ruleId } } });
});

test("two replicas never exceed a spend limit; the matches beyond it are skipped with the reason", async () => {
  const { id, name } = await project();
  const evaluatorId = await evaluator();
  const first = await rule({ session_id: id, evaluator_id: evaluatorId });
  await runs(name, 1);
  const [{ cost_usd: cost }] = await settled(first, 1);
  await ok("DELETE", `/runs/rules/${first}`);
  const limit = (Number(cost) * 4.5).toFixed(6);
  const ruleId = await rule({
    session_id: id,
    evaluator_id: evaluatorId,
    spend_limit: { limit_usd: limit, window: "daily" },
  });
  await runs(name, 30);
  const entries = await settled(ruleId, 30);
  const done = entries.filter((entry) => entry.status === "done");
  expect(done).toHaveLength(4);
  const beyond = entries.filter((entry) => entry.status === "skipped");
  expect(beyond).toHaveLength(26);
  expect(beyond[0].reason).toMatch(/daily spend limit of the rule is reached/);
  const [figures] = await ok("GET", `/runs/rules/statistics?id=${ruleId}`);
  expect(Number(figures.spent_usd)).toBeCloseTo(Number(cost) * 4, 8);
  expect(await sql`select 1 from rule_reservations`).toHaveLength(0);
  const preview = await ok("POST", "/runs/rules/preview", { session_id: id, evaluator_id: evaluatorId });
  expect(preview).toMatchObject({ runs: 31, cost_basis: "recent" });
  expect(Number(preview.estimated_cost_usd)).toBeCloseTo(Number(cost) * 31, 6);
});

test("an evaluator whose model fails for good fails the match; other actions are kept", async () => {
  const { id, name } = await project();
  const ruleId = await rule({ session_id: id, evaluator_id: await evaluator("fail-401"), add_tags: ["t"] });
  await runs(name, 2);
  const entries = await settled(ruleId, 2);
  expect(entries[0]).toMatchObject({
    status: "failed",
    reason: expect.stringMatching(/^evaluators: correctness/),
    tags: { outcome: "success" },
    evaluators: { outcome: "error" },
  });
});

test("an exhausted model budget of the workspace skips the match with the reason", async () => {
  const { id, name } = await project();
  await ok("PUT", "/models/budget", { limit_usd: "0.000001" });
  const ruleId = await rule({ session_id: id, evaluator_id: await evaluator() });
  await runs(name, 1);
  const [entry] = await settled(ruleId, 1);
  expect(entry).toMatchObject({ status: "skipped", reason: expect.stringMatching(/model budget/) });
  await ok("PUT", "/models/budget", { limit_usd: null });
});

test("judged runs go to the alignment queue, and corrections become examples of the rule's judge", async () => {
  const { id, name } = await project();
  const judge = await evaluator();
  const body = { use_corrections_dataset: true, num_few_shot_examples: 4, create_alignment_queue: true };
  const ruleId = await rule({ session_id: id, evaluator_id: judge, ...body });
  const read = async () => (await ok("GET", `/runs/rules?id=${ruleId}`))[0];
  const made = await read();
  expect(made).toMatchObject({ use_corrections_dataset: true, num_few_shot_examples: 4 });
  const { corrections_dataset_id: dataset, alignment_annotation_queue_id: queue } = made;
  const list = await runs(name, 3);
  const entries = await settled(ruleId, 3);
  for (const entry of entries) {
    expect(entry.alignment_queue).toEqual({ outcome: "success", payload: { annotation_queue_ids: [queue] } });
  }
  const items = await ok("GET", `/annotation-queues/${queue}/runs?limit=10`);
  expect(items.map((item: Json) => item.id).toSorted()).toEqual(list.map((run) => run.id).toSorted());
  const [feedback] = await ok("GET", `/feedback?run=${list[0]!.id}`);
  await ok("PATCH", `/feedback/${feedback.id}`, { correction: { correct: false } });
  await vi.waitFor(async () =>
    expect(await ok("GET", `/examples?dataset=${dataset}`)).toMatchObject([{ outputs: { correct: false } }]),
  );
  // a full queue takes no more
  await sql`insert into annotation_queue_runs (tenant_id, queue_run_id, queue_id, run_id, project_id, trace_id, start_time, added_at)
    select tenant_id, gen_random_uuid(), queue_id, gen_random_uuid(), project_id, trace_id, now(), now()
    from annotation_queue_runs, generate_series(1, 200) where queue_id = ${queue} and run_id = ${list[0]!.id}`;
  await runs(name, 1);
  const full = (await settled(ruleId, 4)).find((entry) => entry.alignment_queue.outcome === "skipped");
  expect(full).toMatchObject({ status: "done", reason: expect.stringContaining("200 runs wait") });
  // a change of other fields keeps them; off is off
  await ok("PATCH", `/runs/rules/${ruleId}`, { display_name: "renamed" });
  expect(await read()).toMatchObject({ num_few_shot_examples: 4, alignment_annotation_queue_id: queue });
  await ok("PATCH", `/runs/rules/${ruleId}`, { use_corrections_dataset: false, create_alignment_queue: false });
  expect(await read()).toMatchObject({
    use_corrections_dataset: false,
    corrections_dataset_id: null,
    alignment_annotation_queue_id: null,
  });
});
