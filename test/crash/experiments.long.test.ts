import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, afterEach, expect, test } from "vitest";

import { modelServer } from "../../server/test/model-server.ts";
import { until } from "../../server/test/until.ts";
import { exportReplicas } from "./export-replicas.ts";
import type { ExportProcess } from "./export-process.ts";

/** Experiments whose processes are killed and frozen: 60 examples, 2 repetitions, a judge. */
const [EXAMPLES, REPETITIONS] = [60, 2];
const ROWS = EXAMPLES * REPETITIONS;

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const provider = await modelServer();
/** Calls of the target by example and repetition. */
const calls = new Map<string, number>();
const target = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { q, n } = JSON.parse(Buffer.concat(parts).toString()) as { q: string; n: number };
    const key = `${q} ${n}`;
    calls.set(key, (calls.get(key) ?? 0) + 1);
    setTimeout(() => response.end(JSON.stringify({ answer: `re: ${q}` })), 30);
  });
});
target.listen(0, "127.0.0.1");
await once(target, "listening");
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
const replicas = await exportReplicas();
afterEach(() => replicas.killAll());
afterAll(async () => {
  await replicas.stop();
  target.closeAllConnections();
  await new Promise((resolve) => target.close(resolve));
});

const env = { HEDDLE_EXPERIMENT_LEASE_SECONDS: "3", HEDDLE_EXPORT_CONCURRENCY: "0", HEDDLE_LOG_LEVEL: "error" };
const start = () => replicas.start(env);
const ask = (by: ExportProcess, method: string, path: string, body?: unknown) =>
  by.request(method, path, body) as Promise<Json>;

async function begin(by: ExportProcess, name: string): Promise<string> {
  calls.clear();
  await ask(by, "POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
  const connection = await ask(by, "POST", "/models/connections", {
    name,
    provider: "openai",
    settings: { base_url: `${provider.url}/v1` },
  });
  const evaluator = await ask(by, "POST", "/v1/platform/evaluators", {
    name,
    type: "llm",
    llm_evaluator: {
      prompt: [{ role: "user", content: "Is {{outputs}} right for {{inputs}}?" }],
      model: { connection_id: connection.id, model: "gpt-4o-mini" },
      scores: [{ key: "correct", type: "boolean" }],
    },
  });
  const dataset = await ask(by, "POST", "/datasets", { name });
  const examples = Array.from({ length: EXAMPLES }, (_, i) => ({
    dataset_id: dataset.id,
    inputs: { q: `q${i}` },
    outputs: { answer: `re: q${i}` },
  }));
  await ask(by, "POST", "/examples/bulk", examples);
  const { id } = await ask(by, "POST", "/experiments/runs", {
    dataset_id: dataset.id,
    name,
    target: { type: "http", url, body: { q: "{{inputs.q}}", n: "{{repetition}}" } },
    evaluators: [{ evaluator_id: evaluator.evaluator?.id ?? evaluator.id }],
    repetitions: REPETITIONS,
    concurrency: 8,
  });
  return id as string;
}

const progress = async (by: ExportProcess, id: string) => ask(by, "GET", `/experiments/runs/${id}`);
const reaches = (by: ExportProcess, id: string, done: number) =>
  until(async () => (await progress(by, id)).progress.done >= done, `${done} rows`, 120);

/** Checks that each row has exactly one run and one feedback, as the API shows them. */
async function verify(by: ExportProcess, id: string): Promise<void> {
  await until(async () => (await progress(by, id)).status === "completed", "the experiment ends", 180);
  const done = await progress(by, id);
  expect(done).toMatchObject({
    progress: { total: ROWS, done: ROWS, failed: 0, judge_failures: 0, running: 0 },
    scores: { correct: { n: ROWS, mean: 1 } },
  });
  const runs: Json[] = [];
  let cursor: string | null = null;
  do {
    const page: Json = await ask(by, "POST", "/runs/query", { session: [id], limit: 100, ...(cursor && { cursor }) });
    runs.push(...page.runs);
    cursor = page.cursors?.next ?? null;
  } while (cursor);
  expect(runs.length).toBe(ROWS);
  const byExample = new Map<string, Json[]>();
  for (const run of runs) {
    const example = run.reference_example_id as string;
    byExample.set(example, [...(byExample.get(example) ?? []), run]);
  }
  expect([byExample.size, Math.max(...[...byExample.values()].map((list) => list.length))]).toEqual([
    EXAMPLES,
    REPETITIONS,
  ]);
  const feedback = await replicas.sql`select run_id, key from feedback where session_id = ${id}`;
  expect([feedback.length, new Set(feedback.map((row) => row["run_id"])).size]).toEqual([ROWS, ROWS]);
  const repeated = [...calls.values()].filter((count) => count > 1);
  expect(calls.size).toBe(ROWS);
  expect(Math.max(...calls.values())).toBeLessThanOrEqual(2);
  console.log(`${repeated.length} of ${ROWS} rows called the target twice`);
}

test("an experiment that is killed three times has each run and each feedback once", { timeout: 400_000 }, async () => {
  let replica = await start();
  const id = await begin(replica, "killed");
  for (const done of [ROWS * 0.1, ROWS * 0.4, ROWS * 0.7]) {
    await reaches(replica, id, done);
    await replica.kill();
    // no row is called more often than once for each kill; distinct rows are open at each
    replica = await start();
  }
  await verify(replica, id);
  expect((await progress(replica, id)).status).toBe("completed");
});

test(
  "a frozen process writes nothing after another one has taken the experiment over",
  { timeout: 400_000 },
  async () => {
    const [first, second] = [await start(), await start()];
    const id = await begin(first, "frozen");
    await reaches(second, id, ROWS * 0.1);
    const [row] = await replicas.sql`select attempt from experiment_jobs where project_id = ${id}`;
    // either process may have claimed it
    first.signal("SIGSTOP");
    await sleep(5000);
    const [later] = await replicas.sql`select attempt from experiment_jobs where project_id = ${id}`;
    const frozenOwner = later!["attempt"] > row!["attempt"];
    if (!frozenOwner) {
      // the other one was the owner: freeze it instead
      first.signal("SIGCONT");
      second.signal("SIGSTOP");
      await sleep(5000);
    }
    const [owner, other] = frozenOwner ? [first, second] : [second, first];
    await reaches(other, id, ROWS * 0.5);
    owner.signal("SIGCONT");
    await verify(other, id);
    expect(
      (await replicas.sql`select attempt from experiment_jobs where project_id = ${id}`)[0]!["attempt"],
    ).toBeGreaterThan(1);
  },
);
