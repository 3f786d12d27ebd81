/** Seeds typical application traces, written by the official client. */
import { Client } from "langsmith";
import { evaluate } from "langsmith/evaluation";

export interface SeededIds {
  /** Project of about sixty varied traces. */
  projectId: string;
  projectName: string;
  /** Run of an agent with messages, tools, a picture, feedback and an error inside. */
  agentRunId: string;
  /** Call of a model with messages. */
  llmRunId: string;
  datasetId: string;
  experimentIds: string[];
}

export interface Seeded extends SeededIds {
  client: Client;
  ids: SeededIds;
}

export const connect = (url: string, apiKey = "none"): Client =>
  new Client({ apiUrl: url, apiKey, autoBatchTracing: false, callerOptions: { maxRetries: 0 } });

/** Smallest visible picture: 8 × 8 pixels of teal. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR4nGPk6y9jwAaYsIoOWQkAC3sBHkr3PmcAAAAASUVORK5CYII=";

/** A tenth of a second of silence, as a data URL. */
function silence(): string {
  const samples = Buffer.alloc(800, 128);
  const head = Buffer.from(`RIFF....WAVEfmt ${".".repeat(20)}data....`, "latin1");
  head.writeUInt32LE(36 + samples.length, 4);
  // uncompressed, one channel of 8 bits at 8 kHz
  for (const [at, value] of [
    [16, 16],
    [24, 8000],
    [28, 8000],
    [40, samples.length],
  ] as const)
    head.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    head.writeUInt16LE(value, at);
  return `data:audio/wav;base64,${Buffer.concat([head, samples]).toString("base64")}`;
}

/** A run with explicit times, in milliseconds since 1970. */
interface Piece {
  id: string;
  name: string;
  run_type: string;
  start: number;
  end: number | null;
  parent?: Placed;
  more?: Record<string, unknown>;
}
interface Placed {
  id: string;
  trace_id: string;
  dotted_order: string;
}

const stamp = (ms: number): string => `${new Date(ms).toISOString().replace(/[-:.]/g, "").slice(0, -1)}000Z`;

export function place({ id, name, run_type, start, end, parent, more }: Piece) {
  const own = stamp(start) + id;
  return {
    id,
    name,
    run_type,
    start_time: start,
    ...(end !== null && { end_time: end }),
    trace_id: parent?.trace_id ?? id,
    dotted_order: parent ? `${parent.dotted_order}.${own}` : own,
    ...(parent && { parent_run_id: parent.id }),
    inputs: {},
    ...more,
  };
}

type Placement = ReturnType<typeof place>;

/** Sends runs in batches, as a client's queue does. */
export async function send(client: Client, project_name: string, runs: Placement[]): Promise<void> {
  for (let at = 0; at < runs.length; at += 500) {
    const runCreates = runs.slice(at, at + 500).map((run) => ({ session_name: project_name, ...run }));
    await client.batchIngestRuns({ runCreates: runCreates as never });
  }
}

export async function seedTraces(url: string, apiKey?: string): Promise<Seeded> {
  const client = connect(url, apiKey);
  const projectName = "Shop assistant";
  const now = Date.now();
  const runs: Placement[] = [];
  for (let n = 0; n < 60; n++) runs.push(...smallTrace(n, now - 90_000 - n * 240_000));
  const agent = agentTrace(now - 60_000);
  const [root, ...below] = agent;
  await send(client, projectName, [...runs, ...below]);
  // the client sends attachments together with new runs, as multipart
  const attachments = {
    receipt: ["image/png", Buffer.from(PICTURE, "base64")],
    notes: ["text/plain", Buffer.from("paid")],
  };
  await client.multipartIngestRuns({ runCreates: [{ ...root!, session_name: projectName, attachments } as never] });
  const roots = runs.filter(({ parent_run_id }) => parent_run_id === undefined);
  for (const [at, { id }] of roots.slice(0, 20).entries()) {
    await client.createFeedback(id, "helpful", { score: at % 3 === 0 ? 0 : 1 });
  }
  await client.createFeedback(root!.id, "helpful", { score: 1, comment: "Found the right pair at once." });
  await client.createFeedback(root!.id, "tone", { value: "friendly" });
  const { id: projectId } = await client.readProject({ projectName });
  const ids = { projectId, projectName, agentRunId: root!.id, llmRunId: runs[1]!.id, ...(await seedDataset(client)) };
  return { client, ids, ...ids };
}

const QUESTIONS = [
  "Where is my order?",
  "Do you have these shoes in 43?",
  "How do I return a jacket?",
  "Is the shop open on Sunday?",
];

function smallTrace(n: number, start: number): Placement[] {
  const failed = n % 7 === 3;
  const took = 200 + ((n * 377) % 4200);
  const question = QUESTIONS[n % QUESTIONS.length]!;
  const root = place({
    id: crypto.randomUUID(),
    name: n % 3 === 0 ? "returns" : "assistant",
    run_type: "chain",
    start,
    end: start + took,
    more: {
      inputs: { messages: [{ role: "user", content: question }] },
      ...(failed
        ? { error: `TimeoutError: the warehouse did not answer\n    at ask (file:///shop/warehouse.ts:${n}:7)` }
        : { outputs: { messages: [{ role: "assistant", content: `Answer ${n} to: ${question}` }] } }),
      tags: n % 2 === 0 ? ["web"] : ["app", "beta"],
      extra: {
        metadata: { customer: `c-${n % 5}`, plan: n % 4 === 0 ? "gold" : "basic", thread_id: `talk-${n % 12}` },
      },
    },
  });
  const model = place({
    id: crypto.randomUUID(),
    name: "ChatShop",
    run_type: "llm",
    start: start + 20,
    end: start + took - 10,
    parent: root,
    more: {
      inputs: {
        messages: [
          [
            { role: "system", content: "You help in a shop." },
            { role: "user", content: question },
          ],
        ],
      },
      outputs: { generations: [[{ text: `Answer ${n}`, message: { role: "assistant", content: `Answer ${n}` } }]] },
      events: [{ name: "new_token", time: new Date(start + 90).toISOString() }],
      extra: {
        metadata: {
          ls_model_name: "shop-1",
          ls_provider: "none",
          usage_metadata: {
            input_tokens: 40 + n,
            output_tokens: 12,
            total_tokens: 52 + n,
            input_cost: 0.0004,
            output_cost: 0.0012,
            total_cost: 0.0016,
          },
        },
      },
    },
  });
  return [root, model];
}

function agentTrace(start: number): Placement[] {
  const root = place({
    id: crypto.randomUUID(),
    name: "shoe agent",
    run_type: "chain",
    start,
    end: start + 4200,
    more: {
      inputs: { messages: [{ type: "human", content: "Do you have the red shoes in 43? Here is **what I mean**." }] },
      outputs: {
        messages: [
          { type: "human", content: "Do you have the red shoes in 43? Here is **what I mean**." },
          {
            type: "ai",
            content: "",
            tool_calls: [{ id: "call_1", name: "find_shoes", args: { colour: "red", size: 43 } }],
          },
          { type: "tool", name: "find_shoes", tool_call_id: "call_1", content: '{"in_stock": 2}' },
          {
            type: "ai",
            content: [
              {
                type: "text",
                text: "Yes, **two pairs** are left:\n\n| shop | pairs |\n|---|---|\n| Mitte | 1 |\n| Nord | 1 |",
              },
              { type: "file", file: { filename: "answer.wav", file_data: silence() } },
            ],
          },
        ],
      },
      tags: ["web", "agent"],
      extra: {
        metadata: { customer: "c-1", plan: "gold", thread_id: "talk-agent" },
        runtime: { library: "shop", sdk: "3" },
      },
      events: [
        { name: "start", time: new Date(start).toISOString() },
        { name: "end", time: new Date(start + 4200).toISOString() },
      ],
    },
  });
  const usage = {
    input_tokens: 30,
    output_tokens: 12,
    total_tokens: 42,
    input_token_details: { cache_read: 8 },
    total_cost: 0.0025,
  };
  const model = (name: string, at: number, took: number) =>
    place({
      id: crypto.randomUUID(),
      name,
      run_type: "llm",
      start: start + at,
      end: start + at + took,
      parent: root,
      more: {
        events: [{ name: "new_token", time: new Date(start + at + took / 2).toISOString() }],
        extra: {
          metadata: { ls_model_name: "shop-1", ls_provider: "none", usage_metadata: usage },
          invocation_params: {
            model: "shop-1",
            temperature: 0.3,
            max_tokens: 500,
            tools: [
              {
                type: "function",
                function: {
                  name: "find_shoes",
                  description: "Finds shoes **in stock**.",
                  parameters: { type: "object", properties: { colour: { type: "string" }, size: { type: "integer" } } },
                },
              },
            ],
          },
        },
      },
    });
  const tool = place({
    id: crypto.randomUUID(),
    name: "find_shoes",
    run_type: "tool",
    start: start + 1500,
    end: start + 3000,
    parent: root,
    more: {
      inputs: { colour: "red", size: 43 },
      outputs: { note: "Only in **Mitte** and Nord.", found: { in_stock: 2 } },
    },
  });
  const retry = place({
    id: crypto.randomUUID(),
    name: "warehouse",
    run_type: "retriever",
    start: start + 1600,
    end: start + 2100,
    parent: tool,
    more: {
      inputs: { query: "red 43" },
      error:
        "ConnectionError: connect ECONNREFUSED 10.0.0.7:5432\n    at Warehouse.find (file:///shop/warehouse.ts:41:11)\n    at find_shoes (file:///shop/tools.ts:12:20)",
    },
  });
  const found = place({
    id: crypto.randomUUID(),
    name: "warehouse",
    run_type: "retriever",
    start: start + 2200,
    end: start + 2900,
    parent: tool,
    more: {
      inputs: { query: "red 43" },
      outputs: {
        documents: [{ page_content: "Red runner, size 43, Mitte", metadata: { shop: "Mitte" }, type: "Document" }],
      },
    },
  });
  return [root, model("ChatShop", 100, 1300), tool, retry, found, model("ChatShop", 3100, 1000)];
}

/** Seeds one trace of `size` runs: a chain of steps, each with tools and models. */
export async function seedLargeTrace(client: Client, projectName: string, size: number): Promise<string> {
  const start = Date.now() - 3_600_000;
  const root = place({
    id: crypto.randomUUID(),
    name: "night batch",
    run_type: "chain",
    start,
    end: start + size * 20,
  });
  const runs: Placement[] = [root];
  let step: Placement = root;
  const kinds = ["llm", "tool", "retriever", "chain", "prompt", "parser"];
  for (let n = 1; n < size; n++) {
    const isStep = n % 50 === 1;
    const at = start + n * 19;
    const run = place({
      id: crypto.randomUUID(),
      name: isStep ? `step ${Math.ceil(n / 50)}` : `${kinds[n % kinds.length]} ${n}`,
      run_type: isStep ? "chain" : kinds[n % kinds.length]!,
      start: at,
      end: at + (isStep ? 950 : 15),
      parent: isStep ? root : step,
      more: n % 997 === 0 ? { error: "Error: one of many" } : { outputs: { n } },
    });
    runs.push(run);
    if (isStep) step = run;
  }
  await send(client, projectName, runs);
  return root.id;
}

async function seedDataset(client: Client): Promise<{ datasetId: string; experimentIds: string[] }> {
  const dataset = await client.createDataset("Doubling", { description: "Numbers and their doubles." });
  await client.createExamples(
    Array.from({ length: 8 }, (_, n) => ({
      dataset_id: dataset.id,
      inputs: { n, question: `What is twice ${n}?` },
      outputs: { double: n * 2 },
      split: n < 5 ? "easy" : "hard",
    })),
  );
  const correct = ({ outputs, referenceOutputs }: { outputs: object; referenceOutputs?: object }) => ({
    key: "correct",
    score: JSON.stringify(outputs) === JSON.stringify(referenceOutputs),
  });
  const targets = [
    ["careful", ({ n }: { n: number }) => ({ double: n * 2 })],
    ["hasty", ({ n }: { n: number }) => ({ double: n > 5 ? n : n * 2 })],
  ] as const;
  const experimentIds: string[] = [];
  for (const [experimentPrefix, target] of targets) {
    const done = await evaluate(async (input: { n: number }) => target(input), {
      data: dataset.name,
      evaluators: [correct],
      experimentPrefix,
      client,
    });
    experimentIds.push((await client.readProject({ projectName: done.experimentName })).id);
  }
  await client.awaitPendingTraceBatches();
  return { datasetId: dataset.id, experimentIds };
}

/** Creates an evaluator in code with two versions. Returns its id. */
export async function seedEvaluator(url: string): Promise<string> {
  const send = async (method: string, path: string, body: object): Promise<{ evaluator: { id: string } }> => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { evaluator: { id: string } };
  };
  const code = (limit: number) => ({
    code_evaluator: {
      language: "javascript",
      code: `function performEval(run) {\n  return { short: JSON.stringify(run.outputs).length < ${limit} };\n}\n`,
    },
  });
  const { evaluator } = await send("POST", "/v1/platform/evaluators", {
    name: "Short answers",
    type: "code",
    ...code(100),
  });
  await send("PATCH", `/v1/platform/evaluators/${evaluator.id}`, code(500));
  return evaluator.id;
}

/** Creates an annotation queue with runs. Returns its id. */
export async function seedQueue(url: string, name: string, runIds: string[], dataset: string): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const { id } = await post("/annotation-queues", {
    name,
    rubric_instructions: "Read the question **first**.",
    rubric_items: [{ feedback_key: "correct", description: "Does it answer the question?", is_required: true }],
    default_dataset: dataset,
  });
  await post(`/annotation-queues/${String(id)}/runs?extend_trace_retention=false`, runIds);
  return String(id);
}

/** Creates a rule that has acted on these runs. */
export async function seedRule(url: string, project: string, runIds: string[]): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const body = { display_name: "Check", session_id: project, sampling_rate: 1, add_tags: ["checked"] };
  const id = String((await post("/api/v1/runs/rules", body)).id);
  await post(`/api/v1/runs/rules/${id}/trigger`, { run_ids: runIds });
  return id;
}

/** Creates a budget of users. @returns its id */
export async function seedBudget(traceUrl: string): Promise<string> {
  const response = await fetch(`${traceUrl}/v1/platform/budgets`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Models of the month", limit_usd: 100 }),
  });
  if (response.status !== 201) throw new Error(`the budget was answered with ${response.status}`);
  return ((await response.json()) as { id: string }).id;
}

/** Creates an alert rule that fires; its channel rejects test messages. @returns its id */
export async function seedAlert(traceUrl: string, projectId: string): Promise<string> {
  const rule = {
    name: "Runs of an hour",
    description: "",
    type: "threshold",
    attribute: "run_count",
    aggregation: "sum",
    operator: "gte",
    threshold: 0,
    window_minutes: 60,
  };
  const response = await fetch(`${traceUrl}/v1/platform/alerts/${projectId}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ rule, actions: [{ target: "webhook", config: { url: `${traceUrl}/ok` } }] }),
  });
  if (response.status !== 201) throw new Error(`the alert was answered with ${response.status}`);
  return ((await response.json()) as { rule: { id: string } }).rule.id;
}
