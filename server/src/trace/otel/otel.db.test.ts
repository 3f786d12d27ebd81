import { randomBytes } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";

import protobuf from "protobufjs";
import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, clickhouse } = await testTracePlatform();

type Json = Record<string, unknown>;

const uuidOfSpan = (spanId: string) => `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;
const uuidOfTrace = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
const newTrace = () => randomBytes(16).toString("hex");
const newSpan = () => randomBytes(8).toString("hex");

async function stored(spanId: string): Promise<Json | undefined> {
  const [row] = await clickhouse.rows<Json>({
    name: "t",
    query: "select * from runs final where tenant_id = {t:UUID} and id = {id:UUID}",
    params: { t: WORKSPACE, id: uuidOfSpan(spanId) },
  });
  return row;
}

const value = (plain: unknown): Json => {
  if (typeof plain === "string") return { stringValue: plain };
  if (typeof plain === "boolean") return { boolValue: plain };
  if (typeof plain === "number") return Number.isInteger(plain) ? { intValue: String(plain) } : { doubleValue: plain };
  if (Array.isArray(plain)) return { arrayValue: { values: plain.map(value) } };
  return { kvlistValue: { values: pairs(plain as Json) } };
};
const pairs = (attributes: Json) => Object.entries(attributes).map(([key, entry]) => ({ key, value: value(entry) }));

const START = 1_795_255_200_123_456_789n;

function request(...spans: Json[]): Json {
  return {
    resourceSpans: [
      { resource: { attributes: pairs({ "service.name": "shop" }) }, scopeSpans: [{ scope: { name: "x" }, spans }] },
    ],
  };
}

const span = (traceId: string, spanId: string, attributes: Json, more: Json = {}): Json => ({
  traceId,
  spanId,
  name: "a span",
  kind: 1,
  startTimeUnixNano: String(START),
  endTimeUnixNano: String(START + 2_000_000_000n),
  attributes: pairs(attributes),
  ...more,
});

/** Sends one span with these attributes and reads its run. */
async function ingestSpan(attributes: Json, more: Json = {}): Promise<Json> {
  const id = newSpan();
  const response = await call("POST", "/otel/v1/traces", request(span(newTrace(), id, attributes, more)));
  expect([response.status, response.text]).toEqual([200, "{}"]);
  return (await stored(id))!;
}

const json = (run: Json, field: string) => JSON.parse((run[field] ?? "null") as string) as Json;

test("a span becomes a run with ids, times to the microsecond, project and resource", async () => {
  const [trace, id] = [newTrace(), newSpan()];
  const response = await call(
    "POST",
    "/api/v1/otel/v1/traces",
    request(span(trace, id, { "langsmith.span.kind": "LLM" })),
    {
      "Langsmith-Project": "by header",
    },
  );
  expect(response.status).toBe(200);
  const run = (await stored(id))!;
  expect(run).toMatchObject({
    trace_id: uuidOfTrace(trace),
    name: "a span",
    run_type: "llm",
    start_time: "2026-11-21 10:00:00.123456",
    end_time: "2026-11-21 10:00:02.123456",
    dotted_order: `20261121T100000123456Z${uuidOfSpan(id)}`,
    status: "success",
  });
  expect(json(run, "extra")).toEqual({
    metadata: { "service.name": "shop", "otel.scope.name": "x", OTEL_TRACE_ID: trace, OTEL_SPAN_ID: id },
  });
});

test("maps OpenTelemetry's GenAI attributes", async () => {
  const run = await ingestSpan({
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.request.model": "gpt-x",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.stop_sequences": ["a"],
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be kind.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "Hi",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Hello",
    "gen_ai.completion.0.tool_calls.0.id": "c1",
    "gen_ai.completion.0.tool_calls.0.name": "look",
    "gen_ai.completion.0.tool_calls.0.arguments": '{"q":1}',
    "gen_ai.usage.input_tokens": 11,
    "gen_ai.usage.output_tokens": 7,
    "gen_ai.usage.details.reasoning_tokens": 3,
    "gen_ai.conversation.id": "conv",
    "langsmith.metadata.team": "blue",
    "langsmith.span.tags": "a, b,,",
  });
  expect(run).toMatchObject({
    run_type: "llm",
    thread_id: "conv",
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    completion_token_details: '{"reasoning":3}',
    tags: "\u001ea\u001eb\u001e",
    inputs_preview: "Hi",
    outputs_preview: "Hello",
  });
  expect(json(run, "inputs")).toEqual({
    messages: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hi" },
    ],
  });
  expect(json(run, "outputs")["messages"]).toEqual([
    {
      role: "assistant",
      content: "Hello",
      tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"q":1}' } }],
    },
  ]);
  expect(json(run, "extra")).toMatchObject({
    metadata: { ls_provider: "openai", ls_model_name: "gpt-x", team: "blue", conversation_id: "conv" },
    invocation_params: { model: "gpt-x", temperature: 0.5, stop: ["a"] },
  });
});

test("maps messages of GenAI's newer attributes and of its events", async () => {
  const input = [{ role: "user", parts: [{ type: "text", content: "Hi" }] }];
  const newer = await ingestSpan({
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": JSON.stringify(input),
    "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [] }]),
  });
  expect(json(newer, "inputs")).toEqual({ messages: input });
  const time = String(START);
  const events = await ingestSpan(
    {},
    {
      events: [
        { name: "gen_ai.user.message", timeUnixNano: time, attributes: pairs({ content: "Hi", role: "user" }) },
        {
          name: "gen_ai.choice",
          timeUnixNano: time,
          attributes: pairs({ finish_reason: "stop", "message.content": "Hello", "message.role": "assistant" }),
        },
      ],
    },
  );
  expect(json(events, "inputs")).toEqual({ messages: [{ role: "user", content: "Hi" }] });
  expect(json(events, "outputs")).toEqual({
    choices: [{ finish_reason: "stop", message: { role: "assistant", content: "Hello" } }],
  });
});

test("maps the events of Strands Agents, whose messages are JSON text", async () => {
  const event = (name: string, attributes: Json) => ({
    name,
    timeUnixNano: String(START),
    attributes: pairs(attributes),
  });
  const asked = [{ text: "Hi" }];
  const call = [{ toolUse: { toolUseId: "c1", name: "look", input: { q: 1 } } }];
  const result = [{ text: "found" }];
  const chat = await ingestSpan(
    { "gen_ai.operation.name": "chat" },
    {
      events: [
        event("gen_ai.user.message", { content: JSON.stringify(asked) }),
        event("gen_ai.assistant.message", { content: JSON.stringify(call) }),
        event("gen_ai.tool.message", { content: JSON.stringify(result), id: "c1" }),
        event("gen_ai.choice", { finish_reason: "end_turn", message: JSON.stringify([{ text: "Hello" }]) }),
      ],
    },
  );
  expect(json(chat, "inputs")).toEqual({
    messages: [
      { role: "user", content: asked },
      { role: "assistant", content: call },
      { role: "tool", content: result, tool_call_id: "c1" },
    ],
  });
  expect(json(chat, "outputs")).toEqual({
    choices: [{ finish_reason: "end_turn", message: { role: "assistant", content: [{ text: "Hello" }] } }],
  });
  expect(chat["outputs_preview"]).toBe("Hello");
  const tool = await ingestSpan(
    { "gen_ai.tool.name": "look" },
    {
      events: [
        event("gen_ai.tool.message", { role: "tool", content: '{"q":1}', id: "c1" }),
        event("gen_ai.choice", { message: JSON.stringify(result), id: "c1" }),
      ],
    },
  );
  expect(json(tool, "inputs")).toEqual({ messages: [{ role: "tool", content: { q: 1 }, tool_call_id: "c1" }] });
  expect(json(tool, "outputs")).toEqual({
    choices: [{ finish_reason: null, message: { role: "tool", content: result, tool_call_id: "c1" } }],
  });
  // an agent's answer is plain text; others send a whole message
  for (const [message, expected] of [
    ["It is warm.\n", { role: "assistant", content: "It is warm.\n" }],
    ['{"role":"assistant","content":"x"}', { role: "assistant", content: "x" }],
  ] as const) {
    const agent = await ingestSpan({}, { events: [event("gen_ai.choice", { message })] });
    expect(json(agent, "outputs")).toEqual({ choices: [{ finish_reason: null, message: expected }] });
  }
});

test("maps requests and responses of Logfire's instrumentation of clients", async () => {
  const request = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hi" }], stream: false };
  const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
  const chat = await ingestSpan({
    "gen_ai.request.model": "gpt-4o-mini",
    request_data: JSON.stringify(request),
    response_data: JSON.stringify({ message: { role: "assistant", content: "Hello" }, usage }),
  });
  expect(chat).toMatchObject({ run_type: "llm", prompt_tokens: 7, completion_tokens: 2 });
  expect(json(chat, "inputs")).toEqual(request);
  expect(json(chat, "outputs")).toEqual({ messages: [{ role: "assistant", content: "Hello" }], usage });
  const streamed = await ingestSpan({
    request_data: JSON.stringify({ ...request, stream: true }),
    response_data: '{"combined_chunk_content":"Hello","chunk_count":3}',
  });
  expect(json(streamed, "outputs")).toEqual({ combined_chunk_content: "Hello", chunk_count: 3 });
});

test("a conversation in one attribute is divided into question and answer", async () => {
  const asked = [
    { role: "system", content: "Be short.", "event.name": "gen_ai.system.message" },
    { role: "user", content: "Hi", "event.name": "gen_ai.user.message" },
  ];
  const answer = { role: "assistant", content: "Hello", "event.name": "gen_ai.assistant.message" };
  for (const name of ["all_messages_events", "pydantic_ai.all_messages"]) {
    const run = await ingestSpan({ [name]: JSON.stringify([...asked, answer]) });
    expect(json(run, "inputs")).toEqual({ messages: asked });
    expect(json(run, "outputs")).toEqual({ messages: [answer] });
    // an agent that failed has no answer
    const failed = await ingestSpan({ [name]: JSON.stringify(asked) });
    expect([json(failed, "inputs"), failed["outputs"] ?? null]).toEqual([{ messages: asked }, null]);
  }
  expect(json(await ingestSpan({ all_messages_events: '{"a":1}' }), "outputs")).toEqual({ a: 1 });
});

test("maps OpenInference's attributes", async () => {
  const llm = await ingestSpan({
    "openinference.span.kind": "LLM",
    "llm.model_name": "m",
    "llm.system": "anthropic",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Hi",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Hello",
    "llm.invocation_parameters": '{"top_p":0.1}',
    "llm.token_count.prompt": 4,
    "llm.token_count.completion": 2,
    "llm.token_count.total": 6,
    "session.id": "s1",
    metadata: '{"a":1}',
  });
  expect(llm).toMatchObject({ run_type: "llm", total_tokens: 6, thread_id: "s1" });
  expect(json(llm, "inputs")).toEqual({ messages: [{ role: "user", content: "Hi" }] });
  expect(json(llm, "extra")).toMatchObject({
    metadata: { a: 1, ls_model_name: "m", ls_provider: "anthropic" },
    invocation_params: { top_p: 0.1 },
  });
  const retriever = await ingestSpan({
    "openinference.span.kind": "RETRIEVER",
    "input.value": "where?",
    "retrieval.documents.0.document.content": "Here.",
    "retrieval.documents.0.document.metadata": '{"page":1}',
  });
  expect(retriever["run_type"]).toBe("retriever");
  expect(json(retriever, "inputs")).toEqual({ query: "where?" });
  expect(json(retriever, "outputs")).toEqual({
    documents: [{ page_content: "Here.", metadata: { page: 1 }, type: "Document" }],
  });
  const tool = await ingestSpan({
    "openinference.span.kind": "TOOL",
    "tool.name": "look",
    "input.value": "{}",
    "output.value": "x",
  });
  expect(tool).toMatchObject({ run_type: "tool", name: "look", inputs: "{}", outputs: '{"text":"x"}' });
});

test("counts tokens and costs of spans without contents, of embeddings too", async () => {
  const chat = await ingestSpan({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.output_tokens": 100,
    "gen_ai.usage.cache_read.input_tokens": 400,
  });
  expect(chat).toMatchObject({
    prompt_tokens: 1000,
    completion_tokens: 100,
    total_tokens: 1100,
    prompt_token_details: '{"cache_read":400}',
    outputs: null,
    total_cost: "0.003",
  });
  const inferred = await ingestSpan({
    "openinference.span.kind": "EMBEDDING",
    "embedding.model_name": "text-embedding-3-small",
    "llm.token_count.prompt": 8,
    "embedding.embeddings.0.embedding.text": "a",
    "embedding.embeddings.1.embedding.text": "b",
  });
  expect(inferred).toMatchObject({ run_type: "embedding", prompt_tokens: 8, total_tokens: 8 });
  expect(json(inferred, "inputs")).toEqual({ texts: ["a", "b"] });
  const reported = await ingestSpan({
    "openinference.span.kind": "LLM",
    "llm.token_count.prompt": 5,
    "llm.cost.prompt": 0.25,
    "llm.cost.completion": 0.5,
    "llm.cost.total": 0.75,
  });
  expect(reported).toMatchObject({ prompt_cost: "0.25", completion_cost: "0.5", total_cost: "0.75" });
});

test("does not count the usage of an agent beside that of its calls", async () => {
  const usage = { "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 5 };
  const agent = await ingestSpan({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner", ...usage });
  expect(agent).toMatchObject({ run_type: "chain", total_tokens: null });
  expect(json(agent, "extra")["metadata"]).toMatchObject({ ...usage, "gen_ai.agent.name": "planner" });
  const remote = { "gen_ai.operation.name": "invoke_agent", ...usage };
  expect(await ingestSpan(remote, { kind: 3 })).toMatchObject({ total_tokens: 10 });
  const outer = await ingestSpan({ "ai.operationId": "ai.generateText", "ai.usage.promptTokens": 4 });
  expect(outer).toMatchObject({ run_type: "chain", total_tokens: null });
});

test("loses nothing of a span: other attributes, scope, links, events and what another attribute replaced", async () => {
  const sent = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Hi",
    "llm.input_messages.0.message.name": "Ann",
    "input.value": '{"raw":"request"}',
    "input.mime_type": "application/json",
    "user.id": "u1",
    "gen_ai.request.model": "gpt-x",
    "gen_ai.response.model": "gpt-x-2026",
    "gen_ai.response.id": "r1",
    "agent.name": "planner",
    flag: false,
    ratio: 0.5,
    list: ["a", 1],
    nested: { deep: { a: 1 } },
    empty: "",
    long: "x".repeat(5000),
  };
  const link = { traceId: newTrace(), spanId: newSpan(), attributes: pairs({ why: "batch" }) };
  const event = { name: "retry", timeUnixNano: String(START), attributes: pairs({ attempt: 2 }) };
  const run = await ingestSpan(sent, { links: [link], events: [event], kind: "SPAN_KIND_CLIENT", traceState: "a=b" });
  const { metadata, otel, invocation_params } = json(run, "extra") as Record<string, Json>;
  expect(metadata).toMatchObject({
    "openinference.span.kind": "LLM",
    "input.mime_type": "application/json",
    "user.id": "u1",
    "gen_ai.response.model": "gpt-x-2026",
    "gen_ai.response.id": "r1",
    "agent.name": "planner",
    flag: false,
    ratio: 0.5,
    list: ["a", 1],
    nested: { deep: { a: 1 } },
    empty: "",
    "otel.scope.name": "x",
    "otel.span.kind": "CLIENT",
    "otel.trace_state": "a=b",
  });
  expect(invocation_params).toEqual({ model: "gpt-x" });
  expect(otel).toEqual({
    attributes: { "input.value": sent["input.value"], long: sent.long },
    links: [{ trace_id: link.traceId, span_id: link.spanId, attributes: { why: "batch" } }],
  });
  expect(json(run, "inputs")).toEqual({ messages: [{ role: "user", content: "Hi", name: "Ann" }] });
  expect(json(run, "events")).toEqual([{ name: "retry", time: "2026-11-21T10:00:00.123456", kwargs: { attempt: 2 } }]);
});

test("keeps images, audio and unknown parts of OpenInference messages", async () => {
  const at = "llm.input_messages.0.message.contents";
  const run = await ingestSpan({
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    [`${at}.0.message_content.type`]: "text",
    [`${at}.0.message_content.text`]: "What is this?",
    [`${at}.1.message_content.type`]: "image",
    [`${at}.1.message_content.image.image.url`]: "data:image/png;base64,AAAA",
    [`${at}.2.message_content.type`]: "audio",
    [`${at}.2.message_content.audio.audio.url`]: "https://x/a.wav",
    [`${at}.2.message_content.audio.audio.mime_type`]: "audio/wav",
    [`${at}.3.message_content.type`]: "thing",
    [`${at}.3.message_content.id`]: "t1",
  });
  expect((json(run, "inputs")["messages"] as Json[])[0]!["content"]).toEqual([
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    { type: "audio", url: "https://x/a.wav", mime_type: "audio/wav" },
    { type: "thing", id: "t1" },
  ]);
});

test("keeps score and id of retrieved documents, and reads rerankers", async () => {
  const run = await ingestSpan({
    "openinference.span.kind": "RERANKER",
    "reranker.query": "where?",
    "reranker.model_name": "rr",
    "reranker.input_documents.0.document.content": "A",
    "reranker.output_documents.0.document.content": "A",
    "reranker.output_documents.0.document.score": 0.9,
    "reranker.output_documents.0.document.id": "d1",
  });
  expect(run["run_type"]).toBe("retriever");
  expect(json(run, "inputs")).toMatchObject({ query: "where?", documents: [{ page_content: "A" }] });
  expect(json(run, "outputs")).toEqual({
    documents: [{ page_content: "A", metadata: { score: 0.9, id: "d1" }, type: "Document" }],
  });
});

test("maps the Vercel AI SDK's attributes", async () => {
  const prompt = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
  const call = await ingestSpan({
    "operation.name": "ai.generateText.doGenerate",
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "gpt-4o",
    "ai.model.provider": "openai.responses",
    "ai.prompt.messages": JSON.stringify(prompt),
    "ai.prompt.tools": [JSON.stringify({ type: "function", name: "look" })],
    "ai.response.text": "Hello",
    "ai.response.toolCalls": JSON.stringify([{ toolCallId: "c", toolName: "look", input: '{"q":1}' }]),
    "ai.usage.inputTokens": 10,
    "ai.usage.outputTokens": 5,
    "ai.usage.cachedInputTokens": 4,
    "ai.telemetry.metadata.team": "blue",
  });
  expect(call).toMatchObject({ run_type: "llm", prompt_tokens: 10, completion_tokens: 5 });
  expect(json(call, "inputs")).toEqual({ messages: prompt });
  expect(json(call, "outputs")).toMatchObject({
    messages: [
      {
        role: "assistant",
        content: "Hello",
        tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: '{"q":1}' } }],
      },
    ],
  });
  expect(json(call, "extra")).toMatchObject({
    metadata: { ls_model_name: "gpt-4o", ls_provider: "openai.responses", team: "blue" },
    invocation_params: { tools: [{ type: "function", name: "look" }] },
  });
  const tool = await ingestSpan({
    "ai.operationId": "ai.toolCall",
    "ai.toolCall.name": "look",
    "ai.toolCall.args": '{"q":1}',
    "ai.toolCall.result": '{"found":true}',
  });
  expect(tool).toMatchObject({ run_type: "tool", name: "look", inputs: '{"q":1}', outputs: '{"found":true}' });
  const embed = await ingestSpan({
    "ai.operationId": "ai.embed.doEmbed",
    "ai.values": ['"a"'],
    "ai.embeddings": ["[1,2]"],
    "ai.usage.tokens": 3,
  });
  expect(embed).toMatchObject({ run_type: "embedding", total_tokens: 3, inputs: '{"texts":["a"]}' });
});

test("the Vercel AI SDK passes on how a provider counts cached tokens", async () => {
  const span = (provider: string, model: string, more: Json) =>
    ingestSpan({
      "ai.operationId": "ai.generateText.doGenerate",
      "ai.model.id": model,
      "ai.model.provider": provider,
      "ai.usage.inputTokens": 19,
      "ai.usage.outputTokens": 0,
      ...more,
    });
  const claude = ["anthropic.messages", "claude-sonnet-4-5"] as const;
  const raw = { input_tokens: 19, cache_creation_input_tokens: 1000, cache_read_input_tokens: 15, output_tokens: 0 };
  const metadata = (provider: object) => ({ "ai.response.providerMetadata": JSON.stringify(provider) });
  const cached = { "ai.usage.cachedInputTokens": 15 };
  const fifth = await span(...claude, { ...cached, ...metadata({ anthropic: { usage: raw } }) });
  // 19 × 3 + 15 × 0.3 + 1000 × 3.75
  expect(fifth).toMatchObject({ prompt_tokens: 1034, total_cost: "0.0038115" });
  expect(json(fifth, "cost_basis")).toMatchObject({ cached_tokens: "beside" });
  expect(json(fifth, "extra")["otel"]).toMatchObject({ attributes: metadata({ anthropic: { usage: raw } }) });
  const fourth = metadata({ anthropic: { cacheReadInputTokens: 15, cacheCreationInputTokens: 1000 } });
  expect(await span(...claude, fourth)).toMatchObject({ prompt_tokens: 1034, total_cost: "0.0038115" });
  expect(await span(...claude, cached)).toMatchObject({ prompt_tokens: 34, total_cost: "0.0000615" });
  const bedrock = {
    ...cached,
    ...metadata({ bedrock: { usage: { cacheReadInputTokens: 15, cacheWriteInputTokens: 0 } } }),
  };
  expect(await span("amazon-bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", bedrock)).toMatchObject({
    prompt_tokens: 34,
  });
  const sixth = { "ai.usage.inputTokenDetails.cacheReadTokens": 15, "ai.usage.inputTokenDetails.noCacheTokens": 4 };
  expect(await span(...claude, { ...sixth, ...metadata({ anthropic: { usage: raw } }) })).toMatchObject({
    prompt_tokens: 19,
  });
  expect(await span("openai.responses", "gpt-5", cached)).toMatchObject({ prompt_tokens: 19 });
});

test("stores the valid spans of a request and reports the others as a partial success", async () => {
  const [trace, id] = [newTrace(), newSpan()];
  const spans = [span(trace, id, {}), span("zz", newSpan(), {}), span(trace, "0".repeat(16), {})];
  const response = await call("POST", "/otel/v1/traces", request(...spans));
  expect(response).toMatchObject({ status: 200, json: { partialSuccess: { rejectedSpans: "2" } } });
  expect(response.json.partialSuccess.errorMessage).toContain("is not 16 bytes");
  expect(await stored(id)).toMatchObject({ name: "a span" });
});

test("maps Traceloop's attributes", async () => {
  const run = await ingestSpan({
    "traceloop.span.kind": "workflow",
    "traceloop.entity.name": "plan",
    "traceloop.entity.input": '{"inputs":{"a":1}}',
    "traceloop.entity.output": "done",
    "traceloop.association.properties.thread_id": "t9",
  });
  expect(run).toMatchObject({ run_type: "chain", name: "plan", thread_id: "t9", outputs: '{"text":"done"}' });
  expect(json(run, "inputs")).toEqual({ inputs: { a: 1 } });
});

test("an exception becomes the run's error", async () => {
  const attributes = pairs({ "exception.message": "bad", "exception.stacktrace": "at x" });
  const run = await ingestSpan(
    {},
    { status: { code: 2 }, events: [{ name: "exception", timeUnixNano: String(START), attributes }] },
  );
  expect(run).toMatchObject({ error: "bad\n\nStacktrace:\nat x", status: "error" });
  expect((await ingestSpan({}, { status: { code: 2, message: "no" } }))["error"]).toBe("no");
});

test("children sent before their parents are placed below them", async () => {
  const [trace, root, child, leaf] = [newTrace(), newSpan(), newSpan(), newSpan()];
  for (const attributes of [
    span(trace, leaf, {}, { parentSpanId: child }),
    span(trace, child, {}, { parentSpanId: root }),
    span(trace, root, {}, { parentSpanId: "0000000000000000" }),
  ]) {
    expect((await call("POST", "/otel/v1/traces", request(attributes))).status).toBe(200);
  }
  const at = "20261121T100000123456Z";
  const expected = [root, child, leaf].map((id) => at + uuidOfSpan(id)).join(".");
  await expect.poll(async () => (await stored(leaf))?.["dotted_order"], { timeout: 30_000 }).toBe(expected);
  expect(await stored(leaf)).toMatchObject({ trace_id: uuidOfTrace(trace), parent_run_id: uuidOfSpan(child) });
});

/** Rewritten from the specification, so that the decoder is not compared with itself. */
const { root: proto } = protobuf.parse(`syntax = "proto3";
message V { oneof value { string s = 1; bool b = 2; int64 i = 3; double d = 4; A a = 5; K k = 6; bytes y = 7; } }
message A { repeated V values = 1; } message K { repeated P values = 1; } message P { string key = 1; V value = 2; }
message E { fixed64 time = 1; string name = 2; repeated P attributes = 3; uint32 dropped = 4; }
message St { string message = 2; int32 code = 3; }
message Sp { bytes tid = 1; bytes sid = 2; string state = 3; bytes parent = 4; string name = 5; int32 kind = 6;
  fixed64 start = 7; fixed64 end = 8; repeated P attributes = 9; uint32 dropped = 10; repeated E events = 11; St status = 15; fixed32 flags = 16; }
message Sc { string name = 1; } message Ss { Sc scope = 1; repeated Sp spans = 2; string url = 3; }
message Re { repeated P attributes = 1; } message Rs { Re resource = 1; repeated Ss ss = 2; } message Rq { repeated Rs rs = 1; }`);

test("reads protobuf, also compressed, like JSON", async () => {
  const [trace, id] = [newTrace(), newSpan()];
  const attributes = [
    { key: "gen_ai.operation.name", value: { s: "chat" } },
    { key: "gen_ai.usage.input_tokens", value: { i: 5 } },
    { key: "gen_ai.request.temperature", value: { d: 0.25 } },
    { key: "langsmith.span.tags", value: { a: { values: [{ s: "x" }, { s: "y" }] } } },
    { key: "output.value", value: { s: '{"ok":true}' } },
  ];
  const type = proto.lookupType("Rq");
  const body = type
    .encode(
      type.fromObject({
        rs: [
          {
            resource: { attributes: [{ key: "service.name", value: { s: "p" } }] },
            ss: [
              {
                scope: { name: "s" },
                spans: [
                  {
                    tid: Buffer.from(trace, "hex"),
                    sid: Buffer.from(id, "hex"),
                    name: "proto",
                    kind: 3,
                    start: String(START),
                    end: String(START + 1000n),
                    attributes,
                    events: [{ time: String(START), name: "new_token" }],
                    status: { code: 1 },
                    flags: 256,
                  },
                ],
              },
            ],
          },
        ],
      }),
    )
    .finish();
  const headers = { "Content-Type": "application/x-protobuf", "Content-Encoding": "gzip" };
  const response = await call("POST", "/otel/v1/traces", gzipSync(body), headers);
  expect([response.status, response.text, response.headers.get("content-type")]).toEqual([
    200,
    "",
    "application/x-protobuf",
  ]);
  const deflated = { ...headers, "Content-Encoding": "deflate" };
  expect((await call("POST", "/otel/v1/traces", deflateSync(body), deflated)).status).toBe(200);
  expect((await call("POST", "/otel/v1/traces", deflateSync(body).subarray(0, -5), deflated)).status).toBe(400);
  expect(await stored(id)).toMatchObject({
    name: "proto",
    run_type: "llm",
    start_time: "2026-11-21 10:00:00.123456",
    end_time: "2026-11-21 10:00:00.123457",
    trace_id: uuidOfTrace(trace),
    prompt_tokens: 5,
    tags: "\u001ex\u001ey\u001e",
    first_token_time: "2026-11-21 10:00:00.123456",
    outputs: '{"ok":true,"usage_metadata":{"input_tokens":5}}',
  });
});

test("spans arrive under every path that exporters build from an endpoint", async () => {
  for (const path of [
    "/otel/v1/traces",
    "/api/v1/otel/v1/traces",
    "/otel",
    "/api/v1/otel",
    "/v1/traces",
    "/api/v1/v1/traces",
  ]) {
    const id = newSpan();
    expect([path, (await call("POST", path, request(span(newTrace(), id, {})))).status]).toEqual([path, 200]);
    expect(await stored(id)).toMatchObject({ name: "a span" });
  }
});

test("attributes of Langfuse and MLflow are metadata, and resources choose no project", async () => {
  const id = newSpan();
  const body = request(
    span(newTrace(), id, {
      "langfuse.observation.input": "Hi",
      "mlflow.spanInputs": '{"q":1}',
      "langsmith.trace.session_name": "by attribute",
    }),
  ) as { resourceSpans: { resource: Json }[] };
  body.resourceSpans[0]!.resource = { attributes: pairs({ "langsmith.trace.session_name": "by resource" }) };
  expect((await call("POST", "/otel/v1/traces", body)).status).toBe(200);
  const run = (await stored(id))!;
  expect(run["inputs"] ?? null).toBeNull();
  expect(json(run, "extra")["metadata"]).toMatchObject({
    "langfuse.observation.input": "Hi",
    "mlflow.spanInputs": '{"q":1}',
  });
  const project = await call("GET", "/sessions?name=by%20attribute");
  expect(project.json.map((found: Json) => found["id"])).toEqual([run["project_id"]]);
  expect((await call("GET", "/sessions?name=by%20resource")).json).toEqual([]);
});

test("JSON has the names and ids of OTLP: snake case is ignored, base64 ids are rejected", async () => {
  const id = newSpan();
  const { resourceSpans } = request(span(newTrace(), id, {}));
  expect((await call("POST", "/otel/v1/traces", { resource_spans: resourceSpans })).status).toBe(200);
  expect(await stored(id)).toBeUndefined();
  const inBase64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");
  const answer = await call("POST", "/otel/v1/traces", request(span(inBase64(newTrace()), inBase64(id), {})));
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("id")]);
});

test("rejects bodies that are not OTLP", async () => {
  const send = async (body: unknown, type: string) =>
    (await call("POST", "/otel/v1/traces", body, { "Content-Type": type })).status;
  expect(await send({}, "text/plain")).toBe(415);
  expect(await send("{", "application/json")).toBe(400);
  expect(await send({ resourceSpans: 5 }, "application/json")).toBe(400);
  expect(await send(request(span("zz", "yy", {})), "application/json")).toBe(400);
  expect(await send(request(span("0".repeat(32), newSpan(), {})), "application/json")).toBe(400);
  expect(await send(request(span(newTrace(), "0".repeat(16), {})), "application/json")).toBe(400);
  expect(await send(Buffer.from([255, 255, 255, 255, 1, 2]), "application/x-protobuf")).toBe(400);
  // lists within lists, deeper than any stack
  const nested = Buffer.alloc(300_000, Buffer.from([0x2a, 0x7f]));
  expect(await send(nested, "application/x-protobuf")).toBe(400);
  expect(await send({}, "application/json")).toBe(200);
});

test("feedback on a root says so, although the trace has another id than its root", async () => {
  const [traceId, root, child] = [newTrace(), newSpan(), newSpan()];
  const spans = [span(traceId, root, {}), span(traceId, child, {}, { parentSpanId: root })];
  expect((await call("POST", "/otel/v1/traces", request(...spans))).status).toBe(200);
  const give = async (id: string) => {
    const run_id = uuidOfSpan(id);
    return (await call("POST", "/feedback", { run_id, key: "good", score: 1 })).json.id as string;
  };
  for (const [id, is_root] of [
    [root, true],
    [child, false],
  ] as const) {
    const given = await give(id);
    await expect
      .poll(async () => (await call("GET", `/feedback/${given}`)).json)
      .toMatchObject({ trace_id: uuidOfTrace(traceId), is_root });
  }
});
