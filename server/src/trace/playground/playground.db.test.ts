import { expect, test } from "vitest";

import { modelServer, readEvents } from "../../../test/model-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const provider = await modelServer();
const { call, clickhouse } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
const tenant = uuid7();
const mine = { "x-test-workspace": tenant };

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const stream = async (body: object) => {
  const answer = await call("POST", "/playground/stream", body, mine);
  return { ...answer, events: readEvents(answer.text) };
};

await call("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }], mine);
const { json: connection } = await call(
  "POST",
  "/models/connections",
  { name: "fake", provider: "openai", settings: { base_url: `${provider.url}/v1` } },
  mine,
);

test("streams an answer and traces it with its tokens and cost", async () => {
  const { status, events: got } = await stream({
    messages: [
      { role: "system", content: "Be brief, {name}." },
      { role: "user", content: "Say {what}" },
    ],
    template_format: "f-string",
    variables: { name: "Ada", what: "hi" },
    model: { connection_id: connection.id, model: "gpt-4o-mini", parameters: { temperature: 0 } },
  });
  expect(status).toBe(200);
  expect(got.map(({ event }) => event)).toEqual(["start", "delta", "delta", "delta", "delta", "end"]);
  expect(got[0]!.data).toMatchObject({ provider: "openai", model: "gpt-4o-mini", project_name: "playground" });
  const end = got.at(-1)!.data;
  expect(end).toMatchObject({
    message: { role: "assistant", content: "Hello from gpt-4o-mini: Say hi", tool_calls: [] },
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    cost: { total: "0.00000585" },
    finish_reason: "stop",
    truncated: false,
  });
  expect(provider.calls.at(-1)!.headers["authorization"]).toBe("Bearer sk-test-0123456789");
  const [run] = await clickhouse.rows<Json>({
    name: "t",
    query: "select name, status, inputs, outputs, total_tokens, total_cost from runs final where id = {id:UUID}",
    params: { id: end.run_id },
  });
  expect(run).toMatchObject({ status: "success", total_cost: "0.00000585" });
  expect(run.inputs).toContain("Be brief, Ada.");
  expect(run.outputs).toContain("Hello from gpt-4o-mini: Say hi");
});

test("opens a traced call with its messages, tools, schema and parameters", async () => {
  const body = {
    messages: [
      { role: "system", content: "Use the tools." },
      {
        role: "user",
        content: [
          { type: "text", text: "Weather?" },
          { type: "image", data: "aGVsbG8=", mime_type: "image/png" },
        ],
      },
      { role: "assistant", content: "", tool_calls: [{ id: "c1", name: "weather", args: { city: "Bern" } }] },
      { role: "tool", content: "sunny", tool_call_id: "c1" },
    ],
    tools: [
      {
        name: "weather",
        description: "Weather of a city",
        parameters: { type: "object", properties: { city: { type: "string" } } },
      },
    ],
    tool_choice: "any",
    model: {
      connection_id: connection.id,
      model: "gpt-4o-mini",
      parameters: { temperature: 0.5, max_tokens: 50, stop: ["END"] },
    },
  };
  const { events: got } = await stream(body);
  const end = got.at(-1)!.data;
  expect(end.message.tool_calls).toEqual([{ id: "call_1", name: "weather", args: { city: "sample" } }]);
  const { status, json } = await call("GET", `/playground/from-run/${end.run_id}`, undefined, mine);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    messages: body.messages,
    tools: body.tools,
    tool_choice: "any",
    model: { ...body.model, provider: "openai" },
    provider_known: true,
    output: { message: { role: "assistant", tool_calls: end.message.tool_calls } },
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    notes: [],
  });
  expect((await call("GET", `/playground/from-run/${end.run_id}`)).status).toBe(404);
});

const MODEL = { connection_id: connection.id as string, model: "gpt-4o-mini", parameters: { max_tokens: 100 } };
const hello = { messages: [{ role: "user", content: "hi" }], model: MODEL };

test("links runs of a commit, and names edited ones", async () => {
  const manifest = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "prompts", "prompt", "PromptTemplate"],
    kwargs: { template: "Greet {name}", input_variables: ["name"], template_format: "f-string" },
  };
  await call("POST", "/repos", { repo_handle: "greeter", is_public: false }, mine);
  const { json } = await call("POST", "/commits/-/greeter", { manifest }, mine);
  const hash = json.commit.commit_hash as string;
  const metadata = async (body: object) => {
    const { status, text, events: got } = await stream(body);
    expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
    const { run_id } = got.at(-1)!.data;
    return (await call("GET", `/runs/${run_id}`, undefined, mine)).json.extra.metadata as Json;
  };
  const ref = { owner: "-", repo: "greeter", commit: hash.slice(0, 10) };
  const pulled = await metadata({ commit: ref, variables: { name: "Ada" }, model: MODEL });
  expect(pulled).toMatchObject({ lc_hub_repo: "greeter", lc_hub_commit_hash: hash, ls_model_name: "gpt-4o-mini" });
  expect(pulled.playground_edited).toBeUndefined();
  expect(await metadata({ ...hello, commit: ref })).toMatchObject({ playground_edited: true });
  const foreign = await call("POST", "/playground/stream", { commit: ref, model: { provider: "ollama", model: "x" } });
  expect(foreign.status).toBe(404);
});

test("renders prompts without a model", async () => {
  const body = { messages: [{ role: "user", content: "{a} {b}" }], template_format: "f-string" };
  const { json } = await call("POST", "/playground/render", { ...body, variables: { a: 1 } }, mine);
  expect(json).toMatchObject({ messages: null, variables: ["a", "b"], missing: ["b"] });
  const invoked = await call(
    "POST",
    "/prompts/invoke_prompt",
    {
      messages: [
        ["system", "Be {{how}}"],
        ["human", "hi"],
      ],
      template_format: "mustache",
      inputs: { how: "brief" },
    },
    mine,
  );
  expect(invoked.json).toEqual({
    messages: [
      { type: "system", content: "Be brief" },
      { type: "human", content: "hi" },
    ],
  });
  const jinja = { messages: [["human", "{{ x }}"]], template_format: "jinja2", inputs: {} };
  expect((await call("POST", "/prompts/invoke_prompt", jinja, mine)).json.detail).toContain("jinja2");
});

test.each([
  [{ messages: [], model: MODEL }, /messages/],
  [{ ...hello, manifest: {} }, /only one of them/],
  [{ model: MODEL }, /messages: required/],
  [{ messages: hello.messages }, /model: required/],
  [{ ...hello, model: { ...MODEL, parameters: { temperature: 9 } } }, /model\.parameters\.temperature/],
  [
    { ...hello, model: { ...MODEL, parameters: { base_url: "https://x.example" } } },
    /model\.parameters\.base_url: unknown/,
  ],
  [{ ...hello, model: { ...MODEL, provider: "anthropic" } }, /model\.provider/],
  [{ ...hello, tool_choice: "any" }, /tool_choice: requires tools/],
  [{ ...hello, template_format: "jinja2" }, /jinja2/],
])("rejects a call that it cannot make: %#", async (body, message) => {
  const { status, text } = await call("POST", "/playground/stream", body, mine);
  expect([status, text]).toEqual([422, expect.stringMatching(message)]);
});

test("names the missing secret of a provider", async () => {
  const { status, json } = await call(
    "POST",
    "/playground/stream",
    { ...hello, model: { provider: "mistral", model: "mistral-small" } },
    mine,
  );
  expect([status, json.detail]).toEqual([424, expect.stringContaining("MISTRAL_API_KEY")]);
});

test("runs a prompt over a dataset as an experiment", async () => {
  const { json: dataset } = await call("POST", "/datasets", { name: "sums" }, mine);
  const examples = ["1+1", "2+2", "fails"].map((question, i) => ({
    dataset_id: dataset.id as string,
    inputs: i === 2 ? { other: "x" } : { question },
  }));
  await call("POST", "/examples/bulk", examples, mine);
  const manifest = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "prompts", "prompt", "PromptTemplate"],
    kwargs: { template: "What is {question}?", input_variables: ["question"], template_format: "f-string" },
  };
  const body = {
    ...{ manifest, secrets: {}, options: { max_concurrency: 2, tags: ["try"] }, project_name: "sums-1" },
    ...{ dataset_id: dataset.id, repetitions: 2, metadata: { round: 1 }, model: MODEL },
  };
  const { status, text } = await call("POST", "/datasets/playground_experiment/stream", body, mine);
  const got = readEvents(text);
  expect([status, got.length]).toEqual([200, 8]);
  expect(got[0]!.data).toMatchObject({ project_name: "sums-1", examples: 3, repetitions: 2 });
  expect(got.at(-1)!.data).toMatchObject({
    runs: 6,
    errors: 2,
    stopped: null,
    total_tokens: 72,
    total_cost: "0.0000234",
  });
  const failed = got.filter(({ data }) => data.error);
  expect(failed.map(({ data }) => data.error.message)).toEqual(
    Array.from({ length: 2 }, () => "variables: missing question"),
  );
  const contents = got.flatMap(({ data }) => data.message?.content ?? []) as string[];
  expect(contents.toSorted()[0]).toBe("Hello from gpt-4o-mini: What is 1+1?");

  const side = await call("POST", `/datasets/${dataset.id}/runs`, { session_ids: [got[0]!.data.session_id] }, mine);
  expect((side.json as Json[]).map(({ runs }) => runs.length as number).toSorted()).toEqual([0, 2, 2]);
  expect((await call("POST", "/datasets/playground_experiment/stream", body, mine)).status).toBe(409);

  const batch = await call(
    "POST",
    "/datasets/playground_experiment/batch",
    { ...body, project_name: "sums-2", repetitions: 1, max_examples: 2, batch_size: 10 },
    mine,
  );
  expect([batch.status, batch.json]).toMatchObject([200, { runs: 2, errors: 0 }]);
  expect(batch.json.results).toHaveLength(2);
  const unsupported = { ...body, project_name: "sums-3", evaluator_rules: [uuid7()] };
  expect((await call("POST", "/datasets/playground_experiment/stream", unsupported, mine)).text).toContain(
    "evaluator_rules",
  );
});

test("uses the secrets of a request for its calls alone", async () => {
  const { json: dataset } = await call("POST", "/datasets", { name: "own-key" }, mine);
  await call("POST", "/examples/bulk", [{ dataset_id: dataset.id, inputs: {} }], mine);
  const manifest = { type: "constructor", id: ["PromptTemplate"], kwargs: { template: "hi" } };
  const body = {
    ...{ manifest, options: {}, project_name: "own-key", dataset_id: dataset.id, model: MODEL },
    secrets: { OPENAI_API_KEY: "sk-of-the-request-1234" },
  };
  const { json } = await call("POST", "/datasets/playground_experiment/batch", body, mine);
  expect(json).toMatchObject({ runs: 1, errors: 0 });
  expect(provider.calls.at(-1)!.headers["authorization"]).toBe("Bearer sk-of-the-request-1234");
});
