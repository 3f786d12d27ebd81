/**
 * A model that needs no account: speaks OpenAI's chat completions, responses and embeddings, Anthropic's messages, with
 * and without streaming, and Ollama's embeddings. Its replies follow from the last message, and each has an id of its own:
 *
 *     "use search {"query": "tea"}"   calls the tool `search`, if the request offers it
 *     a tool's result                 "The tool answered: <result>"
 *     anything else                   "You said: <text>"
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelServer {
  /** Variables that point the official clients of the providers at the server. */
  environment: Record<string, string>;
  /** Paths of the requests so far. */
  requests: string[];
  close(): void;
}

type Reply = { text: string } | { tool: string; input: unknown };

interface Message {
  role: string;
  content: unknown;
}

interface Body {
  model: string;
  messages: Message[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: { name?: string; function?: { name: string } }[];
  input?: unknown;
  dimensions?: number;
  encoding_format?: "float" | "base64";
}

const EMBEDDING_SIZE = 32;

export async function startModelServer(): Promise<ModelServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url!);
    answer(request, response).catch((error: Error) => send(response, 500, { error: { message: error.message } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    environment: {
      OPENAI_API_KEY: "sk-corpus",
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_API_KEY: "sk-ant-corpus",
      ANTHROPIC_BASE_URL: url,
      OLLAMA_HOST: url,
    },
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const body = JSON.parse(text || "{}") as Body;
  if (request.url === "/v1/chat/completions") return chatCompletion(body, response);
  if (request.url === "/v1/responses") return openaiResponse(body, response);
  if (request.url === "/v1/embeddings") return send(response, 200, embeddings(body));
  if (request.url === "/api/embed") {
    const vectors = textsOf(body.input).map((text) => [...vectorOf(text, EMBEDDING_SIZE)]);
    return send(response, 200, { model: body.model, embeddings: vectors });
  }
  if (request.url?.startsWith("/v1/messages")) return anthropicMessage(body, response);
  send(response, 404, { error: { message: `no ${request.url}` } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function decide({ messages, tools = [] }: Body): Reply {
  const last = messages.at(-1)!;
  const result = toolResult(last);
  if (result !== null) return { text: `The tool answered: ${result}` };
  const said = textOf(last.content);
  const [, tool, input] = /^use (\w+) (\{.*\})$/s.exec(said) ?? [];
  const isOffered = tools.some(({ name, function: described }) => (name ?? described?.name) === tool);
  return tool !== undefined && isOffered ? { tool, input: JSON.parse(input!) } : { text: `You said: ${said}` };
}

/** Returns the text of a tool's result: a message in OpenAI's API, a block in Anthropic's. */
function toolResult({ role, content }: Message): string | null {
  if (role === "tool") return textOf(content);
  if (!Array.isArray(content)) return null;
  const block = (content as { type: string; content?: unknown }[]).find(({ type }) => type === "tool_result");
  return block ? textOf(block.content) : null;
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return (content as { type: string; text?: string }[]).map(({ text = "" }) => text).join("");
}

/** Splits a text into tokens, whose concatenation is the text. */
const tokens = (text: string): string[] => text.match(/\s*\S+/g) ?? [text];

function chatCompletion(body: Body, response: ServerResponse): void {
  const reply = decide(body);
  const base = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: body.model };
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  const finish = "tool" in reply ? "tool_calls" : "stop";
  const call = "tool" in reply && {
    id: `call_${randomUUID()}`,
    type: "function",
    function: { name: reply.tool, arguments: JSON.stringify(reply.input) },
  };
  if (!body.stream) {
    const message = call
      ? { role: "assistant", content: null, tool_calls: [call] }
      : { role: "assistant", content: "text" in reply ? reply.text : "" };
    const choices = [{ index: 0, message, finish_reason: finish, logprobs: null }];
    return send(response, 200, { ...base, object: "chat.completion", choices, usage });
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (delta: object, reason: string | null = null) => ({
    ...base,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const deltas = call
    ? [{ role: "assistant", content: null, tool_calls: [{ index: 0, ...call }] }]
    : tokens("text" in reply ? reply.text : "").map((content) => ({ role: "assistant", content }));
  for (const delta of deltas) response.write(`data: ${JSON.stringify(chunk(delta))}\n\n`);
  response.write(`data: ${JSON.stringify(chunk({}, finish))}\n\n`);
  if (body.stream_options?.include_usage) {
    const last = { ...base, object: "chat.completion.chunk", choices: [], usage };
    response.write(`data: ${JSON.stringify(last)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

type Item = Message & { type?: string; output?: unknown };

function openaiResponse(body: Body, response: ServerResponse): void {
  const given = typeof body.input === "string" ? [{ role: "user", content: body.input }] : (body.input as Item[]);
  const messages = given.map((item: Item) =>
    item.type === "function_call_output" ? { role: "tool", content: item.output } : item,
  );
  const reply = decide({ ...body, messages });
  const item =
    "tool" in reply
      ? {
          type: "function_call",
          id: `fc_${randomUUID()}`,
          call_id: `call_${randomUUID()}`,
          name: reply.tool,
          arguments: JSON.stringify(reply.input),
          status: "completed",
        }
      : {
          type: "message",
          id: `msg_${randomUUID()}`,
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: reply.text, annotations: [] }],
        };
  const usage = {
    input_tokens: 7,
    output_tokens: 5,
    total_tokens: 12,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const whole = {
    id: `resp_${randomUUID()}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    model: body.model,
    status: "completed",
    output: [item],
    usage,
    error: null,
    incomplete_details: null,
    metadata: {},
  };
  if (!body.stream) return send(response, 200, whole);
  response.writeHead(200, { "content-type": "text/event-stream" });
  let number = 0;
  const emit = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...data })}\n\n`);
  const at = { output_index: 0, item_id: item.id };
  const empty = "tool" in reply ? { ...item, arguments: "" } : { ...item, content: [] };
  emit("response.created", { response: { ...whole, status: "in_progress", output: [], usage: null } });
  emit("response.output_item.added", { output_index: 0, item: { ...empty, status: "in_progress" } });
  if ("tool" in reply) {
    emit("response.function_call_arguments.delta", { ...at, delta: JSON.stringify(reply.input) });
    emit("response.function_call_arguments.done", { ...at, arguments: JSON.stringify(reply.input) });
  } else {
    const part = { type: "output_text", text: "", annotations: [] };
    emit("response.content_part.added", { ...at, content_index: 0, part });
    for (const delta of tokens(reply.text)) emit("response.output_text.delta", { ...at, content_index: 0, delta });
    emit("response.output_text.done", { ...at, content_index: 0, text: reply.text });
  }
  emit("response.output_item.done", { output_index: 0, item });
  emit("response.completed", { response: whole });
  response.end();
}

function anthropicMessage(body: Body, response: ServerResponse): void {
  const reply = decide(body);
  const block =
    "tool" in reply
      ? { type: "tool_use", id: `toolu_${randomUUID()}`, name: reply.tool, input: reply.input }
      : { type: "text", text: reply.text };
  const reason = "tool" in reply ? "tool_use" : "end_turn";
  const message = {
    id: `msg_${randomUUID()}`,
    type: "message",
    role: "assistant",
    model: body.model,
    content: [block],
    stop_reason: reason,
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 5 },
  };
  if (!body.stream) return send(response, 200, message);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const emit = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  emit("message_start", { message: { ...message, content: [], stop_reason: null } });
  const empty = "tool" in reply ? { ...block, input: {} } : { type: "text", text: "" };
  emit("content_block_start", { index: 0, content_block: empty });
  const deltas =
    "tool" in reply
      ? [{ type: "input_json_delta", partial_json: JSON.stringify(reply.input) }]
      : tokens(reply.text).map((text) => ({ type: "text_delta", text }));
  for (const delta of deltas) emit("content_block_delta", { index: 0, delta });
  emit("content_block_stop", { index: 0 });
  emit("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  emit("message_stop", {});
  response.end();
}

/** Counts the words of each text into the cells of a vector: texts with words in common are similar. */
function embeddings({ input = [], model, dimensions = EMBEDDING_SIZE, encoding_format }: Body): object {
  const data = textsOf(input).map((text, index) => {
    const vector = vectorOf(text, dimensions);
    const embedding = encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
    return { object: "embedding", index, embedding };
  });
  return { object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

const textsOf = (input: unknown): string[] => (Array.isArray(input) ? input : [input]) as string[];

/** Counts the words that fall into each of a number of cells. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions).fill(0.01);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) vector[cell(word, dimensions)]! += 1;
  return vector;
}

function cell(word: string, cells: number): number {
  let hash = 7;
  for (const letter of word) hash = (hash * 31 + letter.codePointAt(0)!) % 1_000_003;
  return hash % cells;
}
