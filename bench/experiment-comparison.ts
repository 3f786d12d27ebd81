/**
 * npm run bench -- experiment-comparison: how long the first page of a comparison of 5 experiments of 5,000 examples
 * takes, with three scores, outputs of 2 KB and a model call below each run, and how long its further pages and the
 * dataset's history take. Options: --quick (500 examples), --examples N. Exits with 1 when a target is missed.
 */
import { randomUUID } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { Pool } from "undici";

import { removeDirectory, startTrace, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, examples: { type: "string" } },
});
const EXAMPLES = Number(options.examples ?? (options.quick ? 500 : 5000));
const EXPERIMENTS = 5;
const KEYS = ["correctness", "conciseness", "groundedness"];
const BATCH = 500;
const ROUNDS = 9;
const TARGET_MS = 1000;

const directory = await temporaryDirectory();
const server = await startTrace(directory, "comparison", { HEDDLE_RATE_LIMITS: "off" });
const pool = new Pool(server.url, { connections: 4, bodyTimeout: 600_000, headersTimeout: 600_000 });

async function request<T>(method: "GET" | "POST", path: string, body?: object | FormData): Promise<T> {
  const isForm = body instanceof FormData;
  const encoded = isForm ? new Response(body) : undefined;
  const response = await pool.request({
    method,
    path,
    headers: {
      "x-api-key": server.firstKey,
      "content-type": encoded?.headers.get("content-type") ?? "application/json",
    },
    ...(body && { body: encoded ? Buffer.from(await encoded.arrayBuffer()) : JSON.stringify(body) }),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

const output = { text: "An answer of the usual length. ".repeat(65) };

/** Adds a run, its model call and its scores to a multipart body. */
function addRun(form: FormData, session: string, example: string, n: number, experiment: number): void {
  const [id, call] = [randomUUID(), randomUUID()];
  const start = new Date(Date.now() - 60_000 + n);
  const order = (at: Date, run: string) => `${at.toISOString().replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${run}`;
  const base = { trace_id: id, session_id: session, start_time: start.toISOString(), inputs: { n } };
  const end_time = new Date(start.getTime() + 400 + ((n * 37) % 900)).toISOString();
  const root = { ...base, id, name: "target", run_type: "chain", end_time, dotted_order: order(start, id) };
  const usage_metadata = {
    input_tokens: 500,
    output_tokens: 100 + (n % 50),
    total_tokens: 600 + (n % 50),
    total_cost: 0.001,
  };
  const child = {
    ...base,
    id: call,
    parent_run_id: id,
    name: "model",
    run_type: "llm",
    end_time,
    dotted_order: `${root.dotted_order}.${order(start, call)}`,
    outputs: { ...output, usage_metadata },
  };
  const part = (name: string, value: object) =>
    form.append(name, new Blob([JSON.stringify(value)], { type: "application/json" }));
  part(`post.${id}`, { ...root, reference_example_id: example, outputs: output });
  part(`post.${call}`, child);
  for (const [k, key] of KEYS.entries()) {
    const chance = Math.abs(Math.sin(n * 12.9898 + k * 78.233 + experiment)) % 1;
    const score = k === 0 ? Number(chance < 0.7 + experiment * 0.02) : Math.min(1, chance + experiment * 0.01);
    part(`feedback.${id}`, { id: randomUUID(), run_id: id, trace_id: id, session_id: session, key, score });
  }
}

interface Comparison {
  total: number;
  rows: unknown[];
  next_cursor: string | null;
  experiments: { runs: number; scores: Record<string, { delta: { interval: number[] } | null }> }[];
}

async function seed(): Promise<{ dataset: string; experiments: string[] }> {
  const { id: dataset } = await request<{ id: string }>("POST", "/datasets", { name: "comparison" });
  const examples: string[] = [];
  for (let at = 0; at < EXAMPLES; at += BATCH) {
    const body = Array.from({ length: Math.min(BATCH, EXAMPLES - at) }, (_, i) => ({
      dataset_id: dataset,
      inputs: { question: `Question ${at + i}` },
      outputs: { answer: `Answer ${at + i}` },
    }));
    examples.push(...(await request<{ id: string }[]>("POST", "/examples/bulk", body)).map(({ id }) => id));
  }
  const experiments: string[] = [];
  for (let e = 0; e < EXPERIMENTS; e++) {
    const body = { name: `experiment ${e}`, reference_dataset_id: dataset };
    const { id } = await request<{ id: string }>("POST", "/sessions", body);
    experiments.push(id);
    for (let at = 0; at < EXAMPLES; at += BATCH / 5) {
      const form = new FormData();
      examples.slice(at, at + BATCH / 5).forEach((example, i) => addRun(form, id, example, at + i, e));
      await request("POST", "/runs/multipart", form);
    }
  }
  return { dataset, experiments };
}

/** Waits until the feedback is attached to its runs. */
async function settle(compare: () => Promise<Comparison>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    const { experiments } = await compare();
    if (experiments.every(({ runs, scores }) => runs === EXAMPLES && KEYS.every((key) => key in scores))) return;
  }
  throw new Error("the scores did not arrive");
}

async function time(run: () => Promise<unknown>): Promise<{ first: number; typical: number; worst: number }> {
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const at = performance.now();
    await run();
    times.push(performance.now() - at);
  }
  return { first: times[0]!, typical: median(times), worst: Math.max(...times) };
}

const targets = new Targets();
try {
  console.log(`load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  const at = performance.now();
  const { dataset, experiments } = await seed();
  console.log(
    `${EXPERIMENTS} experiments of ${EXAMPLES} examples, in ${((performance.now() - at) / 1000).toFixed(0)} s`,
  );
  const compare = (more: object = {}) =>
    request<Comparison>("POST", `/datasets/${dataset}/experiments/compare`, { experiments, limit: 100, ...more });
  await settle(compare);
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const report = (label: string, found: Awaited<ReturnType<typeof time>>, target: number) =>
    targets.report(label, `${ms(found.typical)} / ${ms(found.worst)}`, found.worst <= target, `<= ${target} ms`);
  report("open a comparison, median / slowest", await time(() => compare()), TARGET_MS);
  const page = { include: ["rows"], cursor: "400" };
  report("a further page, median / slowest", await time(() => compare(page)), TARGET_MS);
  const filters = [{ key: KEYS[0], change: "worse", more_than: 0.1 }];
  report("regressions only, median / slowest", await time(() => compare({ include: ["rows"], filters })), TARGET_MS);
  const history = `/datasets/${dataset}/experiments/history`;
  report("history of the dataset, median / slowest", await time(() => request("GET", history)), TARGET_MS);
  if (targets.missed) process.exitCode = 1;
} finally {
  await pool.close();
  await server.stop();
  await removeDirectory(directory);
}
