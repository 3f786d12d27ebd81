import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { beforeEach, expect, test, vi } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { modelServer } from "../../../test/model-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";
import { uuid7 } from "../../base/ids.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const provider = await modelServer();

/** Endpoint under test: what it receives, and how it answers. */
interface Received {
  path: string;
  headers: IncomingMessage["headers"];
  body: Json;
}
const received: Received[] = [];
let answer: (request: Received, response: ServerResponse) => void;
const endpoint = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const got = {
      path: request.url!,
      headers: request.headers,
      body: JSON.parse(Buffer.concat(parts).toString()) as Json,
    };
    received.push(got);
    answer(got, response);
  });
});
endpoint.listen(0, "127.0.0.1");
await once(endpoint, "listening");
const { port } = endpoint.address() as AddressInfo;
const url = `http://127.0.0.1:${port}`;
atEnd(async () => {
  endpoint.closeAllConnections();
  endpoint.close();
  await once(endpoint, "close");
});

const { call, clickhouse, platform } = await testTracePlatform({
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port},127.0.0.1:${port}`,
});
const tenant = uuid7();
const mine = { "x-test-workspace": tenant };
const ask = (method: string, path: string, body?: object) => call(method, path, body, mine);
const json = (response: ServerResponse, value: unknown, status = 200, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
};

beforeEach(() => {
  received.length = 0;
  answer = ({ body }, response) => json(response, { answer: `re: ${body.question}` });
});

await ask("POST", "/workspaces/current/secrets", [
  { key: "OPENAI_API_KEY", value: "sk-test-0123456789" },
  { key: "AGENT_KEY", value: "agent-key-0123" },
]);
const { json: connection } = await ask("POST", "/models/connections", {
  name: "fake",
  provider: "openai",
  settings: { base_url: `${provider.url}/v1` },
});
const model = (name = "gpt-4o-mini") => ({ connection_id: connection.id, model: name });

async function dataset(count: number, more: (i: number) => object = () => ({})): Promise<string> {
  const { json: created } = await ask("POST", "/datasets", { name: `d-${uuid7()}` });
  const examples = Array.from({ length: count }, (_, i) => ({
    dataset_id: created.id,
    inputs: { question: `q${i}` },
    outputs: { answer: `re: q${i}` },
    ...more(i),
  }));
  const { status } = await ask("POST", "/examples/bulk", examples);
  expect(status).toBe(200);
  return created.id as string;
}

const start = async (body: object): Promise<Json> => {
  const made = await ask("POST", "/experiments/runs", body);
  expect([made.status, made.text]).toEqual([201, made.text]);
  return made.json;
};
const read = async (id: string): Promise<Json> => (await ask("GET", `/experiments/runs/${id}`)).json;
const ended = async (id: string): Promise<Json> => {
  let last: Json;
  await until(async () => {
    last = await read(id);
    return !["pending", "running"].includes(last.status);
  });
  return last;
};
const runsOf = (project: string): Promise<Json[]> =>
  clickhouse.rows<Json>({
    name: "t",
    query: `select id, name, run_type, status, error, inputs, outputs, metadata, extra, reference_example_id,
      parent_run_id, trace_id from runs final where project_id = {project:UUID} order by start_time`,
    params: { project },
  });

const manifest = {
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "prompts", "chat", "ChatPromptTemplate"],
  kwargs: {
    messages: [
      {
        lc: 1,
        type: "constructor",
        id: ["langchain_core", "prompts", "chat", "HumanMessagePromptTemplate"],
        kwargs: {
          prompt: {
            lc: 1,
            type: "constructor",
            id: ["langchain_core", "prompts", "prompt", "PromptTemplate"],
            kwargs: { template: "Answer {question}", input_variables: ["question"], template_format: "f-string" },
          },
        },
      },
    ],
    input_variables: ["question"],
  },
};

test("runs a prompt over a dataset: one trace per example and repetition, with tokens, cost and the call below", async () => {
  const id = await dataset(3);
  const made = await start({
    dataset_id: id,
    name: "first",
    target: { type: "prompt", manifest, model: model() },
    repetitions: 2,
    metadata: { why: "test" },
  });
  expect(made).toMatchObject({ name: "first", progress: { total: 6 }, repetitions: 2 });
  const done = await ended(made.id);
  expect(done).toMatchObject({
    status: "completed",
    progress: { total: 6, done: 6, failed: 0, running: 0, seconds_left: null },
    error_rate: 0,
    total_tokens: 108,
    cost_usd: "0.0000351",
  });
  const runs = await runsOf(made.id);
  const roots = runs.filter((run) => run.parent_run_id === null);
  expect([runs.length, roots.length]).toEqual([12, 6]);
  expect(JSON.parse(roots[0].outputs)).toEqual({
    output: expect.stringMatching(/^Hello from gpt-4o-mini: Answer q\d$/),
  });
  expect(new Set(roots.map((run) => run.reference_example_id)).size).toBe(3);
  expect(JSON.parse(roots[0].extra).metadata).toMatchObject({ why: "test", heddle_source: "experiment" });
  const [child] = runs.filter((run) => run.parent_run_id !== null);
  expect(child).toMatchObject({ run_type: "llm", status: "success" });
  const { json: rows } = await ask("GET", `/experiments/runs/${made.id}/rows`);
  expect(rows.map((row: Json) => [row.index, row.repetition, row.status])).toEqual([
    [0, 1, "done"],
    [1, 1, "done"],
    [2, 1, "done"],
    [3, 2, "done"],
    [4, 2, "done"],
    [5, 2, "done"],
  ]);
  const { json: session } = await ask("GET", `/sessions/${made.id}?include_stats=true`);
  expect(session).toMatchObject({
    reference_dataset_id: id,
    run_count: 6,
    extra: { metadata: { num_repetitions: 2 } },
  });
  expect(session.end_time).not.toBeNull();
  const { json: listed } = await ask("GET", `/experiments/runs?dataset=${id}`);
  expect(listed).toMatchObject({ total: 1, items: [{ id: made.id, status: "completed" }] });
});

test("calls an endpoint with secrets in headers, a body template and an output path", async () => {
  const id = await dataset(2, (i) => ({ metadata: { level: i } }));
  answer = ({ body }, response) => json(response, { choices: [{ text: `re: ${body.q}` }] });
  const made = await start({
    dataset_id: id,
    target: {
      type: "http",
      url: `${url}/answer?x=1`,
      headers: { Authorization: "Bearer {{secrets.AGENT_KEY}}", "X-Plain": "yes" },
      body: { q: "{{inputs.question}}", level: "{{metadata.level}}", note: "example {{example_id}}" },
      output: { answer: "{{output.choices.0.text}}" },
    },
  });
  expect((await ended(made.id)).status).toBe("completed");
  const [got] = received;
  expect(got!.headers).toMatchObject({ authorization: "Bearer agent-key-0123", "x-plain": "yes" });
  expect(got!.body).toEqual({
    q: expect.stringMatching(/^q\d$/),
    level: expect.any(Number),
    note: expect.stringMatching(/^example [0-9a-f-]{36}$/),
  });
  const runs = await runsOf(made.id);
  expect(runs.map((run) => JSON.parse(run.outputs))).toEqual(
    expect.arrayContaining([{ answer: "re: q0" }, { answer: "re: q1" }]),
  );
  expect(JSON.stringify([runs, await read(made.id)])).not.toContain("agent-key-0123");
});

test("calls an assistant without a thread, links its trace, and reports an error of the graph", async () => {
  const id = await dataset(2);
  answer = ({ body }, response) => {
    const location = { "content-location": `/runs/${uuid7()}` };
    if (body.input.messages[0].content === "q0")
      return json(response, { messages: [{ content: "done" }] }, 200, location);
    json(response, { __error__: { error: "ValueError", message: "bad input" } }, 200, location);
  };
  const made = await start({
    dataset_id: id,
    target: {
      type: "assistant",
      url: `${url}/agent/`,
      assistant_id: "support",
      input: { messages: [{ role: "user", content: "{{inputs.question}}" }] },
      output: "{{output.messages.-1.content}}",
      config: { configurable: { tone: "kind" } },
    },
  });
  const done = await ended(made.id);
  expect(done).toMatchObject({ status: "completed", progress: { done: 2, failed: 1 }, error_rate: 0.5 });
  expect(received[0]!.path).toBe("/agent/runs/wait");
  expect(received[0]!.body).toMatchObject({
    assistant_id: "support",
    config: { configurable: { tone: "kind" } },
    metadata: { heddle_experiment_id: made.id },
  });
  const runs = await runsOf(made.id);
  const good = runs.find((run) => run.status === "success");
  expect([good.name, JSON.parse(good.outputs)]).toEqual(["support", { output: "done" }]);
  const linked = received.find(({ body }) => body.metadata.heddle_experiment_run_id === good.id);
  expect(linked).toBeDefined();
  expect(JSON.parse(good.extra).metadata.heddle_agent_run_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(runs.find((run) => run.status === "error").error).toBe("ValueError: bad input");
});

test("judges each run by versions of evaluators named by id or name, and averages the scores", async () => {
  const id = await dataset(3);
  const { json: made } = await ask("POST", "/v1/platform/evaluators", {
    name: "correctness",
    type: "llm",
    llm_evaluator: {
      prompt: [{ role: "user", content: "Is {{outputs}} right for {{inputs}}? {{reference}}" }],
      model: model(),
      scores: [{ key: "correct", type: "boolean" }],
    },
  });
  const job = await start({ dataset_id: id, target: { type: "http", url }, evaluators: [{ name: "correctness" }] });
  expect(job.evaluators).toEqual([{ evaluator_id: made.evaluator.id, version: 1, name: "correctness" }]);
  const done = await ended(job.id);
  expect(done).toMatchObject({
    status: "completed",
    progress: { done: 3, failed: 0, judge_failures: 0 },
    scores: { correct: { n: 3, mean: 1 } },
  });
  expect(Number(done.judge_cost_usd)).toBeGreaterThan(0);
  const { json: session } = await ask("GET", `/sessions/${job.id}?include_stats=true`);
  expect(session.feedback_stats.correct).toMatchObject({ n: 3, avg: 1 });
  const [run] = await runsOf(job.id);
  const { json: feedback } = await ask("GET", `/feedback?run=${run.id}`);
  expect(feedback).toMatchObject([
    {
      key: "correct",
      score: 1,
      feedback_source: { type: "model", metadata: { evaluator_name: "correctness", version: 1 } },
    },
  ]);
  // judging the finished experiment by the same version is the same judgement
  const calls = provider.calls.length;
  const path = `/runs/experiments/${job.id}`;
  const evaluatorId = feedback[0].feedback_source.metadata.evaluator_id;
  await ask("POST", `${path}/evaluate`, { evaluator_ids: [evaluatorId] });
  await vi.waitFor(async () => {
    const { json } = await ask("GET", `${path}/evaluations`);
    expect(json.evaluations).toMatchObject([{ status: "completed", done: 3, cost_usd: "0" }]);
  });
  expect(provider.calls.length).toBe(calls);
  expect((await ask("GET", `/feedback?run=${run.id}`)).json).toHaveLength(1);
});

test("an evaluator that fails leaves its runs unjudged, and a retry judges them without calling the target again", async () => {
  const id = await dataset(2);
  const broken = {
    prompt: [{ role: "user", content: "Judge {{outputs}}" }],
    model: model("fail-400"),
    scores: [{ key: "quality", type: "boolean" }],
  };
  const { json: made } = await ask("POST", "/v1/platform/evaluators", {
    name: "broken",
    type: "llm",
    llm_evaluator: broken,
  });
  const job = await start({
    dataset_id: id,
    target: { type: "http", url },
    evaluators: [{ evaluator_id: made.evaluator.id }],
  });
  const done = await ended(job.id);
  expect(done).toMatchObject({ status: "completed", progress: { done: 2, failed: 0, judge_failures: 2 } });
  const { json: rows } = await ask("GET", `/experiments/runs/${job.id}/rows?status=unjudged`);
  expect(rows[0].judge_errors).toMatchObject([{ evaluator: "broken", error: expect.stringMatching(/status 400/) }]);
  expect(received).toHaveLength(2);
  expect((await ask("POST", `/experiments/runs/${job.id}/retry`)).json).toEqual({ retried: 2 });
  expect(await ended(job.id)).toMatchObject({ progress: { done: 2, judge_failures: 2 } });
  expect(received).toHaveLength(2);
});

test("retries transient failures with the same idempotency key per try, and not others", async () => {
  const id = await dataset(2);
  const seen = new Map<string, number>();
  answer = ({ body }, response) => {
    const count = (seen.get(body.question) ?? 0) + 1;
    seen.set(body.question, count);
    if (body.question === "q1") return json(response, { message: "no such thing" }, 404);
    if (count === 1) return json(response, {}, 503);
    json(response, { answer: "yes" });
  };
  const made = await start({ dataset_id: id, target: { type: "http", url }, retries: 1 });
  expect(await ended(made.id)).toMatchObject({ status: "completed", progress: { done: 2, failed: 1 } });
  expect([seen.get("q0"), seen.get("q1")]).toEqual([2, 1]);
  const keys = received.map(({ headers }) => headers["idempotency-key"] as string);
  expect(new Set(keys).size).toBe(3);
  expect(keys.every((key) => /^[0-9a-f-]{36}\.[12]$/.test(key))).toBe(true);
  const { json: rows } = await ask("GET", `/experiments/runs/${made.id}/rows?status=failed`);
  expect(rows).toMatchObject([{ status: "failed", error: expect.stringMatching(/status 404: .*no such thing/) }]);
});

test("stops when the target is down, resumes when asked, and retries the failed rows under new runs", async () => {
  const id = await dataset(12);
  answer = (_, response) => json(response, {}, 500);
  const made = await start({
    dataset_id: id,
    target: { type: "http", url },
    retries: 0,
    concurrency: 1,
    stop_after_failures: 4,
  });
  const stopped = await ended(made.id);
  expect(stopped).toMatchObject({ status: "stopped", progress: { total: 12, done: 4, failed: 4, running: 0 } });
  expect(stopped.reason).toMatch(/^4 examples in a row failed, the last with: .*status 500/);
  answer = ({ body }, response) => json(response, { answer: `re: ${body.question}` });
  expect((await ask("POST", `/experiments/runs/${made.id}/resume`)).status).toBe(200);
  expect(await ended(made.id)).toMatchObject({ status: "completed", progress: { done: 12, failed: 4 }, reason: null });
  expect((await ask("POST", `/experiments/runs/${made.id}/resume`)).status).toBe(409);
  expect((await ask("POST", `/experiments/runs/${made.id}/retry`)).json).toEqual({ retried: 4 });
  expect(await ended(made.id)).toMatchObject({ status: "completed", progress: { done: 12, failed: 0 }, error_rate: 0 });
  await until(async () => (await runsOf(made.id)).length === 12);
  expect((await runsOf(made.id)).every((run) => run.status === "success")).toBe(true);
});

test("cancels within two seconds without losing rows, and resumes", async () => {
  const id = await dataset(6);
  const open: ServerResponse[] = [];
  answer = (_, response) => void open.push(response);
  const made = await start({ dataset_id: id, target: { type: "http", url }, concurrency: 2 });
  await until(() => open.length === 2);
  expect((await read(made.id)).progress).toMatchObject({ running: 2, done: 0 });
  const cancelled = await ask("POST", `/experiments/runs/${made.id}/cancel`);
  expect(cancelled.json.status).toBe("cancelled");
  await until(() => open.every((response) => response.destroyed));
  await until(async () => (await read(made.id)).progress.running === 0);
  expect((await ask("POST", `/experiments/runs/${made.id}/cancel`)).status).toBe(409);
  answer = (_, response) => json(response, { answer: "late" });
  await ask("POST", `/experiments/runs/${made.id}/resume`);
  expect(await ended(made.id)).toMatchObject({ status: "completed", progress: { done: 6, failed: 0 } });
  expect(await runsOf(made.id)).toHaveLength(6);
});

test("stops at the model budget with its reason, and resumes after it is raised", async () => {
  const id = await dataset(3);
  await ask("PUT", "/models/budget", { limit_usd: 0 });
  const made = await start({ dataset_id: id, target: { type: "prompt", manifest, model: model() } });
  const stopped = await ended(made.id);
  expect(stopped).toMatchObject({ status: "stopped", progress: { done: 0, running: 0 } });
  expect(stopped.reason).toMatch(/model budget of this workspace/);
  await ask("PUT", "/models/budget", { limit_usd: null });
  await ask("POST", `/experiments/runs/${made.id}/resume`);
  expect(await ended(made.id)).toMatchObject({ status: "completed", progress: { done: 3, failed: 0 } });
});

test("executes the version, splits, filter and number of examples that it was given", async () => {
  const id = await dataset(6, (i) => ({ split: i < 4 ? "test" : "train", metadata: { even: i % 2 === 0 } }));
  const { json: before } = await ask("GET", `/datasets/${id}/versions`);
  await ask("PUT", `/datasets/${id}/tags`, { tag: "v1", as_of: before[0].as_of });
  const { json: examples } = await ask("GET", `/examples?dataset=${id}`);
  const [changed] = examples;
  await ask("PATCH", `/examples/${changed.id}`, { inputs: { question: "changed" } });
  const target = { type: "http", url };
  const filtered = await start({
    dataset_id: id,
    target,
    splits: ["test"],
    filter: "has(metadata, '{\"even\": true}')",
  });
  expect((await ended(filtered.id)).progress.total).toBe(2);
  received.length = 0;
  const tagged = await start({ dataset_id: id, target, as_of: "v1", splits: ["test"] });
  await ended(tagged.id);
  const asked = received.map(({ body }) => body.question as string);
  expect(asked).not.toContain("changed");
  expect((await read(tagged.id)).progress.total).toBe(4);
  const few = await start({ dataset_id: id, target, example_metadata: { even: true }, max_examples: 2 });
  expect((await ended(few.id)).progress).toMatchObject({ total: 2, done: 2 });
  const none = await ask("POST", "/experiments/runs", { dataset_id: id, target, splits: ["none"] });
  expect([none.status, none.text]).toEqual([422, expect.stringContaining("no example")]);
});

test.each([
  ["an unknown dataset", { dataset_id: uuid7() }, 404],
  ["an unknown dataset's name", { dataset_id: null, dataset_name: "nowhere" }, 404],
  ["no dataset", { dataset_id: null }, 422],
  ["a URL that is not permitted", { target: { type: "http", url: "http://169.254.169.254/latest" } }, 422],
  ["a URL of another scheme", { target: { type: "http", url: "file:///etc/passwd" } }, 422],
  ["a credential in plain text", { target: { type: "http", url, headers: { Authorization: "Bearer x" } } }, 422],
  ["an unknown secret", { target: { type: "http", url, headers: { "X-Api-Key": "{{secrets.NOPE}}" } } }, 424],
  ["an unknown placeholder", { target: { type: "http", url, body: { a: "{{reference.answer}}" } } }, 422],
  ["the reference in a body", { target: { type: "http", url, body: { a: "{{outputs.answer}}" } } }, 422],
  ["a line break in a header", { target: { type: "http", url, headers: { a: "x\r\nb: y" } } }, 422],
  ["an unknown prompt", { target: { type: "prompt", prompt: { repo: "nope" }, model: model() } }, 404],
  ["an unknown evaluator", { evaluators: [{ evaluator_id: uuid7() }] }, 404],
  ["too many repetitions", { repetitions: 101 }, 422],
])("rejects %s", async (_, change, status) => {
  const id = await dataset(1);
  const { status: got, text } = await ask("POST", "/experiments/runs", {
    dataset_id: id,
    target: { type: "http", url },
    ...change,
  });
  expect([got, text]).toEqual([status, text]);
});

test("a used name is a conflict, and an unknown experiment is not found", async () => {
  const id = await dataset(1);
  const body = { dataset_id: id, name: "twice", target: { type: "http", url } };
  const made = await start(body);
  expect((await ask("POST", "/experiments/runs", body)).status).toBe(409);
  await ended(made.id);
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/rows"],
    ["POST", "/cancel"],
    ["POST", "/resume"],
    ["POST", "/retry"],
  ] as const) {
    expect((await ask(method, `/experiments/runs/${uuid7()}${path}`)).status).toBe(404);
  }
});

test("an example that was erased fails its rows alone, and a deleted experiment leaves no rows", async () => {
  const id = await dataset(2);
  const { json: examples } = await ask("GET", `/examples?dataset=${id}`);
  const open: ServerResponse[] = [];
  answer = (_, response) => void open.push(response);
  const made = await start({ dataset_id: id, target: { type: "http", url }, concurrency: 1, repetitions: 2 });
  await until(() => open.length === 1);
  await ask("POST", `/experiments/runs/${made.id}/cancel`);
  await platform.deps.sql`delete from dataset_examples where example_id = ${examples[0].id}`;
  answer = (_, response) => json(response, { answer: "late" });
  await until(async () => (await read(made.id)).progress.running === 0);
  await ask("POST", `/experiments/runs/${made.id}/resume`);
  const done = await ended(made.id);
  expect(done).toMatchObject({ status: "completed", progress: { done: 4, failed: 2 } });
  await ask("DELETE", `/sessions/${made.id}`);
  await until(
    async () => (await platform.deps.sql`select 1 from experiment_rows where project_id = ${made.id}`).length === 0,
  );
  expect((await ask("GET", `/experiments/runs/${made.id}`)).status).toBe(404);
});
