/**
 * A model server that answers like OpenAI's without a model: chat completions, responses (both also as streams) and
 * embeddings. A request with tools gets a call of the first one, and the request with its result an answer.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

type Json = Record<string, unknown>;

export const ANSWER = "It is 7 degrees in Oslo.";
const ARGUMENTS = '{"city":"Oslo"}';

const CHAT_USAGE = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 10, audio_tokens: 0 },
};
const RESPONSE_USAGE = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 64 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 10 },
  total_tokens: 150,
};

/** Answers a request below /v1; returns false if the path is not a model's. */
export function answerModel(request: IncomingMessage, body: string, response: ServerResponse): boolean {
  const path = new URL(request.url!, "http://x").pathname;
  if (!path.startsWith("/v1/") || path === "/v1/traces") return false;
  const call = JSON.parse(body || "{}") as Json;
  if (call["model"] === "refusing-model") {
    json(response, 400, { error: { message: "The model refuses.", type: "invalid_request_error", code: "refused" } });
  } else if (path === "/v1/chat/completions") chat(call, response);
  else if (path === "/v1/responses") respond(call, response);
  else if (path === "/v1/embeddings") {
    const data = [call["input"]].flat().map((_, index) => ({ object: "embedding", index, embedding: [0.25, -0.5, 1] }));
    json(response, 200, { object: "list", model: call["model"], data, usage: { prompt_tokens: 9, total_tokens: 9 } });
  } else json(response, 404, { error: { message: "not found" } });
  return true;
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

function events(response: ServerResponse, list: Json[], named: boolean): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const event of list) {
    response.write(`${named ? `event: ${String(event["type"])}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(named ? "" : "data: [DONE]\n\n");
}

/** Returns the name of the tool to call. */
function toolToCall(call: Json, isAnswered: boolean): string | undefined {
  if (isAnswered || !Array.isArray(call["tools"])) return undefined;
  const tool = call["tools"][0] as { name?: string; function?: { name?: string } } | undefined;
  return tool?.function?.name ?? tool?.name;
}

function chat(call: Json, response: ServerResponse): void {
  const messages = (call["messages"] ?? []) as Json[];
  const tool = toolToCall(
    call,
    messages.some((message) => message["role"] === "tool"),
  );
  const toolCalls = tool && [{ id: "call_1", type: "function", function: { name: tool, arguments: ARGUMENTS } }];
  const finish_reason = tool ? "tool_calls" : "stop";
  const common = { id: "chatcmpl-1", created: 1_795_255_200, model: `${String(call["model"])}-2024-07-18` };
  if (call["stream"]) {
    const chunk = (delta: Json, reason: string | null = null, usage: Json | null = null) => ({
      ...common,
      object: "chat.completion.chunk",
      choices: usage ? [] : [{ index: 0, delta, finish_reason: reason }],
      usage,
    });
    const deltas: Json[] = toolCalls
      ? [{ role: "assistant", tool_calls: [{ index: 0, ...toolCalls[0]! }] }]
      : [{ role: "assistant", content: "" }, ...ANSWER.split(/(?<= )/).map((content) => ({ content }))];
    const list = [...deltas.map((delta) => chunk(delta)), chunk({}, finish_reason), chunk({}, null, CHAT_USAGE)];
    return events(response, list, false);
  }
  const message = { role: "assistant", content: tool ? null : ANSWER, ...(toolCalls && { tool_calls: toolCalls }) };
  const choices = [{ index: 0, message, finish_reason, logprobs: null }];
  json(response, 200, { ...common, object: "chat.completion", choices, usage: CHAT_USAGE });
}

function respond(call: Json, response: ServerResponse): void {
  const items = (Array.isArray(call["input"]) ? call["input"] : []) as Json[];
  const tool = toolToCall(
    call,
    items.some((item) => item["type"] === "function_call_output"),
  );
  const content = [{ type: "output_text", text: ANSWER, annotations: [], logprobs: [] }];
  const item: Json = tool
    ? { id: "fc_1", type: "function_call", status: "completed", call_id: "call_1", name: tool, arguments: ARGUMENTS }
    : { id: "msg_1", type: "message", status: "completed", role: "assistant", content };
  const whole = {
    id: "resp_1",
    object: "response",
    created_at: 1_795_255_200,
    status: "completed",
    model: call["model"],
    output: [item],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: call["tools"] ?? [],
    instructions: call["instructions"] ?? null,
    usage: RESPONSE_USAGE,
    error: null,
    incomplete_details: null,
    metadata: {},
    temperature: 1,
    top_p: 1,
  };
  if (!call["stream"]) return json(response, 200, whole);
  const started = { ...whole, status: "in_progress", output: [], usage: null };
  const part = { output_index: 0, content_index: 0, item_id: "msg_1" };
  const list: Json[] = [
    { type: "response.created", response: started },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [], status: "in_progress" } },
    ...(tool
      ? [{ type: "response.function_call_arguments.done", output_index: 0, item_id: "fc_1", arguments: ARGUMENTS }]
      : [
          { type: "response.content_part.added", ...part, part: { type: "output_text", text: "", annotations: [] } },
          { type: "response.output_text.delta", ...part, delta: ANSWER, logprobs: [] },
          { type: "response.output_text.done", ...part, text: ANSWER, logprobs: [] },
        ]),
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  ];
  events(
    response,
    list.map((event, sequence_number) => ({ ...event, sequence_number })),
    true,
  );
}
