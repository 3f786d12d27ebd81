/**
 * Actions of rules while the platform that acts is killed after each of them, and while it is frozen for longer than its
 * lease: in the end each matching run has one queue item, one example, one feedback of each kind and one event, and none
 * is missing.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { startClickHouseServer } from "../../server/test/clickhouse-server.ts";
import { testDatabase } from "../../server/test/db.ts";
import { modelServer } from "../../server/test/model-server.ts";
import { receiver } from "../../server/test/receiver.ts";
import { sampleRun } from "../../server/test/sample-runs.ts";
import { newInstallation } from "./server-process.ts";
import { TraceProcess } from "./trace-process.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const db = await testDatabase();
const provider = await modelServer();
const hook = await receiver();
const installation = newInstallation();
mkdirSync(installation.dataDir, { recursive: true });
const clickhouse = await startClickHouseServer(join(installation.directory, "chdb-server"));
const env = {
  DATABASE_URI: db.uri,
  CLICKHOUSE_URL: clickhouse.url,
  HEDDLE_LOG_LEVEL: "warn",
  HEDDLE_RULE_LEASE_SECONDS: "2",
  HEDDLE_WEBHOOK_TIMEOUT_MS: "500",
  HEDDLE_WEBHOOK_RETRY_MS: "100",
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}`,
};
const acting = await TraceProcess.create(installation);
const helping = await TraceProcess.create(installation);
let evaluatorId: string;

async function send(path: string, body: object, url = helping.url): Promise<Json> {
  const response = await fetch(url + path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
const get = async (path: string): Promise<Json> => (await fetch(helping.url + path)).json();

beforeAll(async () => {
  // takes requests, decides, and acts on nothing
  await helping.start({ ...env, HEDDLE_RULE_CONCURRENCY: "0" });
  const secrets = [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }];
  await fetch(`${helping.url}/api/v1/workspaces/current/secrets`, {
    method: "POST",
    body: JSON.stringify(secrets),
    headers: { "content-type": "application/json" },
  });
  const settings = { base_url: `${provider.url}/v1` };
  const { id } = await send("/api/v1/models/connections", { name: "fake", provider: "openai", settings });
  const llm_evaluator = {
    prompt: [{ role: "user", content: "Answer: {{answer}}" }],
    variable_mapping: { answer: "output.answer" },
    model: { connection_id: id, model: "scripted" },
    scores: [{ key: "correct", type: "boolean", description: "" }],
  };
  const made = await send("/v1/platform/evaluators", { name: "correctness", type: "llm", llm_evaluator });
  evaluatorId = made.evaluator.id;
}, 90_000);
afterAll(async () => {
  acting.signal("SIGCONT");
  await acting.stop();
  await helping.stop();
  await clickhouse.stop();
  installation.remove();
});

let made = 0;

/** A rule with every action, on a separate project. */
async function ruled() {
  const name = `acted ${++made}`;
  const project = await send("/api/v1/sessions", { name });
  const queue = await send("/api/v1/annotation-queues", { name });
  const dataset = await send("/api/v1/datasets", { name });
  const rule = await send("/api/v1/runs/rules", {
    display_name: name,
    sampling_rate: 1,
    session_id: project.id,
    add_to_annotation_queue_id: queue.id,
    add_to_dataset_id: dataset.id,
    add_tags: ["acted"],
    add_feedback: [{ key: "seen", score: 1 }],
    evaluator_id: evaluatorId,
    webhooks: [{ url: `${hook.url}/${made}` }],
  });
  return { name, path: `/${made}`, queue: queue.id, dataset: dataset.id, rule: rule.id as string };
}

async function sendRuns(name: string, count: number): Promise<Set<string>> {
  const post = Array.from({ length: count }, () => {
    const start_time = `${new Date(Date.now() - 60_000 + ++made).toISOString().slice(0, 23)}000Z`;
    return sampleRun(name, {
      start_time,
      inputs: { question: made },
      outputs: { answer: 'yes [[{"reasoning":"It is.","correct":true}]]' },
    });
  });
  await send("/runs/batch", { post });
  return new Set(post.map((run) => run.id));
}

async function checkActed({ path, queue, dataset, rule }: Awaited<ReturnType<typeof ruled>>, runs: Set<string>) {
  await vi.waitFor(
    async () => {
      const rows = await db.sql`select status from rule_matches where rule_id = ${rule}`;
      expect(rows.filter((row) => row["status"] === "done")).toHaveLength(runs.size);
    },
    { timeout: 60_000, interval: 100 },
  );
  await vi.waitFor(
    () => {
      const events = hook.received.filter((message) => message.path === path);
      expect(new Set(events.map((message) => message.json.run_id))).toEqual(runs);
    },
    { timeout: 20_000, interval: 100 },
  );
  const ids = new Map<string, Set<unknown>>();
  for (const { json, headers } of hook.received.filter((message) => message.path === path)) {
    ids.set(json.run_id as string, (ids.get(json.run_id as string) ?? new Set()).add(headers["webhook-id"]));
  }
  // a repetition is recognized by its id
  for (const known of ids.values()) expect(known.size).toBe(1);
  const items = await db.sql`select run_id from annotation_queue_runs where queue_id = ${queue}`;
  expect(items.map((row) => row["run_id"] as string).toSorted()).toEqual([...runs].toSorted());
  const examples = await db.sql`select source_run_id from dataset_examples where dataset_id = ${dataset}`;
  expect(examples.map((row) => row["source_run_id"] as string).toSorted()).toEqual([...runs].toSorted());
  const feedback = await db.sql`
    select run_id, key from feedback where run_id = any(${[...runs]}::uuid[]) order by run_id, key`;
  const wanted = [...runs].toSorted().flatMap((run) => [`${run} correct`, `${run} seen`]);
  expect(feedback.map((row) => `${row["run_id"]} ${row["key"]}`)).toEqual(wanted);
  const [some] = runs;
  expect((await get(`/api/v1/runs/${some}`)).tags).toEqual(["acted"]);
}

// act-on-batch.slow.test.ts stops at all other points, within a process
test.each(["rule-claimed:1", "rule-judged:2", "rule-after-evaluators:3", "before-webhook:2", "after-webhook:1"])(
  "after a kill at %s each action is done once",
  async (point) => {
    const target = await ruled();
    await acting.start({ ...env, HEDDLE_FAULT_POINTS: point });
    const runs = await sendRuns(target.name, 12);
    // it dies on its own
    await vi.waitFor(() => expect(fetch(`${acting.url}/ok`)).rejects.toThrow(), { timeout: 30_000, interval: 50 });
    await acting.kill();
    await acting.start(env);
    await checkActed(target, runs);
    await acting.kill();
  },
  120_000,
);

test("a platform that was frozen for longer than its lease does nothing that another one has done", async () => {
  const target = await ruled();
  await acting.start(env);
  const other = await TraceProcess.create(installation);
  await other.start(env);
  try {
    const runs = new Set<string>();
    for (let round = 0; round < 4; round++) {
      for (const id of await sendRuns(target.name, 25)) runs.add(id);
      await sleep(100 + round * 150);
      const frozen = round % 2 === 0 ? acting : other;
      frozen.signal("SIGSTOP");
      await sleep(4000);
      frozen.signal("SIGCONT");
    }
    expect(runs.size).toBe(100);
    await checkActed(target, runs);
  } finally {
    await other.stop();
  }
}, 180_000);
