/**
 * npm run bench -- insights: a whole insights job of 10,000 questions against a fake model, which answers at once, with
 * embeddings of 1,536 dimensions, and its stages: reading the sample, embedding, clustering (with terms and storing),
 * naming and measuring. Meanwhile requests are sent: clustering must not delay them. Options: --quick (1,000 runs),
 * --runs N, --topics N. Exits with 1 when a target is missed.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { removeDirectory, startTrace, temporaryDirectory } from "./servers.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    runs: { type: "string" },
    topics: { type: "string", default: "30" },
  },
});
const RUNS = Number(options.runs ?? (options.quick ? 1000 : 10_000));
const TOPICS = Number(options.topics);
const DIMENSIONS = 1536;
const BATCH = 1000;
const POLL_MS = 20;
/** The job of 10,000 runs; clustering of it; the slowest request meanwhile. */
const [JOB_SECONDS, CLUSTER_SECONDS, REQUEST_MS] = [120, 30, 1000];

/** Deterministic numbers with a mean of 0, by a linear congruential generator. */
function vector(seed: number): Float64Array {
  const found = new Float64Array(DIMENSIONS);
  let state = (seed * 2_654_435_761) >>> 0;
  for (let i = 0; i < DIMENSIONS; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    found[i] = state / 2 ** 32 - 0.5;
  }
  return found;
}

const centers = Array.from({ length: TOPICS }, (_, topic) => vector(topic + 1));

/** Embeds "topic 3, question 17": the topic's direction and as much of the question's own. */
function embed(text: string): number[] {
  const [, topic = "0", question = "0"] = /topic (\d+), question (\d+)/.exec(text) ?? [];
  const [center, own] = [centers[Number(topic) % TOPICS]!, vector(Number(question) + 1_000_003)];
  return Array.from(center, (value, i) => Math.round((value + 0.8 * own[i]!) * 1e5) / 1e5);
}

async function answerAsModel(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = JSON.parse(Buffer.concat(parts).toString()) as { input?: string | string[]; messages?: unknown };
  if (body.input !== undefined) {
    const data = [body.input].flat().map((text, index) => ({ object: "embedding", index, embedding: embed(text) }));
    const usage = { prompt_tokens: data.length, total_tokens: data.length };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", model: "m", data, usage }));
    return;
  }
  const topic = /topic (\d+)/.exec(JSON.stringify(body.messages))?.[1] ?? "0";
  const content = JSON.stringify({ name: `Questions about topic ${topic}`, description: "What users ask." });
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunk({ role: "assistant", content }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
}

const model = createServer((request, response) => void answerAsModel(request, response));
model.listen(0, "127.0.0.1");
await once(model, "listening");
const { port } = model.address() as AddressInfo;
const directory = await temporaryDirectory();
const server = await startTrace(directory, "insights", {
  HEDDLE_RATE_LIMITS: "off",
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${port}`,
});

async function request<T>(method: "GET" | "POST", path: string, body?: object): Promise<T> {
  const headers = { "x-api-key": server.firstKey, "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

async function seed(): Promise<string> {
  await request("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-bench-0123456789" }]);
  const settings = { base_url: `http://127.0.0.1:${port}/v1` };
  await request("POST", "/models/connections", { name: "fake", provider: "openai", settings });
  const { id } = await request<{ id: string }>("POST", "/sessions", { name: "insights" });
  const begin = Date.now() - 3_600_000;
  for (let at = 0; at < RUNS; at += BATCH) {
    const post = Array.from({ length: Math.min(BATCH, RUNS - at) }, (_, i) => {
      const [run, start] = [randomUUID(), new Date(begin + (at + i) * 100)];
      const stamp = start.toISOString().replaceAll(/[-:.]/g, "").replace("Z", "000Z");
      return {
        id: run,
        trace_id: run,
        dotted_order: `${stamp}${run}`,
        name: "chat",
        run_type: "chain",
        session_id: id,
        start_time: start.toISOString(),
        end_time: new Date(start.getTime() + 500).toISOString(),
        inputs: { question: `topic ${(at + i) % TOPICS}, question ${at + i}` },
        outputs: { answer: "An answer." },
      };
    });
    await request("POST", "/runs/batch", { post });
  }
  return id;
}

interface Job {
  id: string;
  status: string;
  error: string | null;
  sampled: number | null;
  progress: { stage: string; embedded: number; clusters: number; named: number };
}

/** Memory of the server in MiB; 0 where it cannot be read. */
function memory(): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

const targets = new Targets();
try {
  console.log(`load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  const project = await seed();
  const path = `/sessions/${project}/insights`;
  const idle = memory();
  const started = performance.now();
  const { id } = await request<Job>("POST", path, { last_n_hours: 24, sample: RUNS });
  let job = await request<Job>("GET", `${path}/${id}`);
  const seconds = new Map<string, number>();
  let [last, most, slowest] = [started, idle, 0];
  while (job.status === "queued" || job.status === "running") {
    await sleep(POLL_MS);
    const at = performance.now();
    const next = await request<Job>("GET", `${path}/${job.id}`);
    const now = performance.now();
    slowest = Math.max(slowest, now - at);
    most = Math.max(most, memory());
    seconds.set(job.progress.stage, (seconds.get(job.progress.stage) ?? 0) + (now - last) / 1000);
    last = now;
    job = next;
  }
  if (job.status !== "success") throw new Error(`the job ended with ${job.status}: ${job.error}`);
  const whole = (performance.now() - started) / 1000;
  const { embedded, clusters, named } = job.progress;
  console.log(
    `${embedded} embeddings of ${DIMENSIONS} dimensions, ${TOPICS} topics: ${clusters} clusters, ${named} named`,
  );
  for (const [stage, took] of seconds) console.log(`  ${stage.padEnd(10)} ${took.toFixed(1)} s`);
  console.log(`  memory     ${(most - idle).toFixed(0)} MB above ${idle.toFixed(0)} MB`);
  const cluster = seconds.get("cluster") ?? 0;
  targets.report("clustering", `${cluster.toFixed(1)} s`, cluster <= CLUSTER_SECONDS, `<= ${CLUSTER_SECONDS} s`);
  targets.report("whole job", `${whole.toFixed(1)} s`, whole <= JOB_SECONDS, `<= ${JOB_SECONDS} s`);
  const isQuick = slowest <= REQUEST_MS;
  targets.report("slowest request meanwhile", `${slowest.toFixed(0)} ms`, isQuick, `<= ${REQUEST_MS} ms`);
  if (targets.missed) process.exitCode = 1;
} finally {
  await server.stop();
  model.closeAllConnections();
  model.close();
  await removeDirectory(directory);
}
