/**
 * Fake providers of models on one port, for tests: OpenAI (chat completions and responses, also in Azure's paths),
 * Anthropic, Gemini, Bedrock, Mistral and Ollama, each in the wire format of the provider.
 *
 * The model's name says what the model does; what it answers follows from the request:
 *
 * - an image or a file: "saw image/png" …, for each; with tools: a call of the first one; with a schema: an object that
 *   matches it; else "Hello from <model>: <last text>" in several chunks
 * - `fail-401`, `fail-429`, `fail-500`: that status, with a message that quotes the key; 429 with `retry-after: 7`
 * - `stall`: begins to answer and then sends nothing; `silent`: sends no headers
 * - `endless`, `endless-large`: never ends, in small or large chunks; `broken`: sends JSON that is cut off; `cut`: closes the connection amid the answer, cleanly
 * - `varied`: lists of an answer with a schema have as many elements as the question's first number, with distinct texts
 * - `capitals`: names the capital of the country in the question, but a wrong one unless the messages say "Check"
 * - `lies`: reports an absurd usage
 * - `scripted` (chat completions): answers the text between [[ and ]] in the messages; in a conversation with n answers,
 *   the text of the (n + 1)th such place
 *
 * Embeddings are sums of one direction per word (hashed), so texts with the same words are close. `fail-…` and `silent`
 * work for them too. `script` decides structured answers.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";

import { atEnd } from "./at-end.ts";
import { embedWords } from "./embed-words.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

export interface ModelCallSeen {
  path: string;
  headers: IncomingHttpHeaders;
  body: Json;
  /** Resolves when the client closed the connection before the answer was complete. */
  aborted: Promise<void>;
  isAborted: boolean;
}

export interface ModelServer {
  url: string;
  port: number;
  calls: ModelCallSeen[];
  /** Chunks of endless answers that were written. */
  written: number;
  /** Texts that were embedded, in order. */
  embedded: string[];
  /** Returns the answer to a request with a schema; undefined: an object that matches it. */
  script?: ((asked: string, schema: Json) => Json) | undefined;
}

/** Parses the server-sent events of a response. */
export function readEvents(text: string): { event: string; data: Json }[] {
  return text
    .split("\n\n")
    .filter((frame) => frame.startsWith("event: "))
    .map((frame) => {
      const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/s.exec(frame) ?? [];
      return { event, data: JSON.parse(data) as Json };
    });
}

/** What a model is to say, independent of the wire format. */
interface Answer {
  chunks: string[];
  tool?: { name: string; args: object } | undefined;
  usage: { input: number; output: number };
}

interface Api {
  matches: RegExp;
  model(path: string, body: Json): string;
  question(body: Json): { text: string; seen: string[]; tools: { name: string; schema: Json }[]; schema: Json };
  contentType: string;
  /** Encodes the parts of a streamed answer. */
  stream(answer: Answer): (string | Buffer)[];
  /** A part that is cut off. */
  broken: string | Buffer;
  fail(status: number, message: string): object;
}

const sse = (data: unknown, event?: string): string =>
  `${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

const text = (content: Json): string =>
  typeof content === "string" ? content : (content ?? []).map((block: Json) => block.text ?? "").join("");

const last = (list: Json): Json => (Array.isArray(list) ? list.at(-1) : list);
const blocks = (content: Json): Json[] => (Array.isArray(content) ? content : []);
const ofUrl = (url: string): string => /^data:([^;]+)/.exec(url)?.[1] ?? url;

const openaiChat: Api = {
  matches: /\/chat\/completions(\?|$)/,
  model: (_path, body) => body.model,
  question(body) {
    const { content } = last(body.messages);
    const seen = blocks(content).flatMap((block) =>
      block.type === "image_url"
        ? [ofUrl(block.image_url.url)]
        : block.type === "file"
          ? [ofUrl(block.file.file_data)]
          : [],
    );
    const tools = (body.tools ?? []).map(({ function: f }: Json) => ({ name: f.name, schema: f.parameters }));
    return { text: text(content), seen, tools, schema: body.response_format?.json_schema?.schema };
  },
  contentType: "text/event-stream",
  stream({ chunks, tool, usage }) {
    const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
      sse({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more });
    const args = tool ? JSON.stringify(tool.args) : "";
    const calls = tool
      ? [
          chunk({
            tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: tool.name, arguments: "" } }],
          }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: args.slice(0, 5) } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: args.slice(5) } }] }),
        ]
      : chunks.map((content) => chunk({ content }));
    const { input, output } = usage;
    const counts = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    return [
      chunk({ role: "assistant", content: "" }),
      ...calls,
      chunk({}, tool ? "tool_calls" : "stop"),
      sse({ id: "c1", object: "chat.completion.chunk", choices: [], usage: counts }),
      sse("[DONE]"),
    ];
  },
  broken: 'data: {"id": "c1", "choices": [{"delta": {"content": "cut\n\n',
  fail: (status, message) => ({ error: { message, type: `error_${status}`, code: null } }),
};

const openaiResponses: Api = {
  matches: /\/responses(\?|$)/,
  model: (_path, body) => body.model,
  question(body) {
    const { content } = last(body.input);
    const seen = blocks(content).flatMap((block) =>
      block.type === "input_image"
        ? [ofUrl(block.image_url)]
        : block.type === "input_file"
          ? [ofUrl(block.file_data)]
          : [],
    );
    const tools = (body.tools ?? []).map(({ name, parameters }: Json) => ({ name, schema: parameters }));
    return { text: text(content), seen, tools, schema: body.text?.format?.schema };
  },
  contentType: "text/event-stream",
  stream({ chunks, tool, usage }) {
    const { input, output } = usage;
    const counts = {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const args = tool ? JSON.stringify(tool.args) : "";
    const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: tool?.name, arguments: "" };
    const whole = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [] as object[] };
    if (!tool) whole.content.push({ type: "output_text", text: chunks.join(""), annotations: [] });
    const response = { id: "resp_1", object: "response", model: "m", output: [] as object[] };
    const done = {
      ...response,
      status: "completed",
      output: [tool ? { ...call, arguments: args } : whole],
      usage: counts,
    };
    const event = (type: string, data: object) => sse({ type, ...data }, type);
    return [
      event("response.created", { response: { ...response, status: "in_progress" } }),
      ...(tool
        ? [
            event("response.output_item.added", { output_index: 0, item: call }),
            event("response.function_call_arguments.delta", { output_index: 0, item_id: "fc_1", delta: args }),
            event("response.output_item.done", { output_index: 0, item: { ...call, arguments: args } }),
          ]
        : chunks.map((delta) =>
            event("response.output_text.delta", { output_index: 0, content_index: 0, item_id: "msg_1", delta }),
          )),
      event("response.completed", { response: done }),
    ];
  },
  broken: 'event: response.output_text.delta\ndata: {"type": "response.output_text.delta", "delta": "cut\n\n',
  fail: (status, message) => ({ error: { message, type: `error_${status}`, code: null } }),
};

const anthropic: Api = {
  matches: /\/v1\/messages(\?|$)/,
  model: (_path, body) => body.model,
  question(body) {
    const { content } = last(body.messages);
    const seen = blocks(content).flatMap(({ type, source }) =>
      type === "image" || type === "document" ? [source.media_type ?? source.url] : [],
    );
    const tools = (body.tools ?? []).map((tool: Json) => ({ name: tool.name, schema: tool.input_schema }));
    return { text: text(content), seen, tools, schema: undefined };
  },
  contentType: "text/event-stream",
  stream({ chunks, tool, usage }) {
    const event = (type: string, data: object) => sse({ type, ...data }, type);
    const args = tool ? JSON.stringify(tool.args) : "";
    const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: "m", stop_reason: null };
    const block = tool ? { type: "tool_use", id: "toolu_1", name: tool.name, input: {} } : { type: "text", text: "" };
    const deltas = tool
      ? [args.slice(0, 5), args.slice(5)].map((partial_json) => ({ type: "input_json_delta", partial_json }))
      : chunks.map((piece) => ({ type: "text_delta", text: piece }));
    return [
      event("message_start", { message: { ...message, usage: { input_tokens: usage.input, output_tokens: 1 } } }),
      event("content_block_start", { index: 0, content_block: block }),
      ...deltas.map((delta) => event("content_block_delta", { index: 0, delta })),
      event("content_block_stop", { index: 0 }),
      event("message_delta", {
        delta: { stop_reason: tool ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: usage.output },
      }),
      event("message_stop", {}),
    ];
  },
  broken: 'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_d\n\n',
  fail: (status, message) => ({ type: "error", error: { type: `error_${status}`, message } }),
};

const google: Api = {
  matches: /:streamGenerateContent/,
  model: (path) => /models\/([^:]+):/.exec(decodeURIComponent(path))![1]!,
  question(body) {
    const { parts } = last(body.contents);
    const seen = parts.flatMap((part: Json) =>
      part.inlineData ? [part.inlineData.mimeType] : part.fileData ? [part.fileData.fileUri] : [],
    );
    const declared = (body.tools ?? []).flatMap((tool: Json) => tool.functionDeclarations ?? []);
    const tools = declared.map(({ name, parameters }: Json) => ({ name, schema: parameters }));
    return { text: text(parts), seen, tools, schema: body.generationConfig?.responseSchema };
  },
  contentType: "text/event-stream",
  stream({ chunks, tool, usage }) {
    const { input, output } = usage;
    const chunk = (parts: object[], more: object = {}) =>
      sse({ candidates: [{ index: 0, content: { role: "model", parts }, ...more }] });
    const counts = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
    const pieces = tool
      ? [[{ functionCall: { name: tool.name, args: tool.args } }]]
      : chunks.map((piece) => [{ text: piece }]);
    return [
      chunk([{ text: "" }]),
      ...pieces.map((parts) => chunk(parts)),
      sse({
        candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
        usageMetadata: counts,
      }),
    ];
  },
  broken: 'data: {"candidates": [{"content": {"parts": [{"te\n\n',
  fail: (status, message) => ({ error: { code: status, message, status: `ERROR_${status}` } }),
};

/** Encodes a frame of the binary event stream of AWS (application/vnd.amazon.eventstream). */
function awsFrame(event: string, payload: object | string, kind = "event"): Buffer {
  const header = (name: string, value: string) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([
      Buffer.from([Buffer.byteLength(name)]),
      Buffer.from(name),
      Buffer.from([7]),
      length,
      Buffer.from(value),
    ]);
  };
  const headers = Buffer.concat([
    header(":message-type", kind),
    header(":event-type", event),
    header(":content-type", "application/json"),
  ]);
  const body = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const checksum = (bytes: Buffer) => {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(bytes));
    return sum;
  };
  const start = Buffer.concat([prelude, checksum(prelude), headers, body]);
  return Buffer.concat([start, checksum(start)]);
}

const bedrock: Api = {
  matches: /\/model\/[^/]+\/converse-stream/,
  model: (path) => /\/model\/([^/]+)\//.exec(decodeURIComponent(path))![1]!,
  question(body) {
    const { content } = last(body.messages);
    const seen = blocks(content).flatMap(({ image, document }) =>
      image ? [`image/${image.format}`] : document ? [`application/${document.format}`] : [],
    );
    const tools = (body.toolConfig?.tools ?? []).map(({ toolSpec }: Json) => ({
      name: toolSpec.name,
      schema: toolSpec.inputSchema.json,
    }));
    return { text: text(content), seen, tools, schema: undefined };
  },
  contentType: "application/vnd.amazon.eventstream",
  stream({ chunks, tool, usage }) {
    const { input, output } = usage;
    const args = tool ? JSON.stringify(tool.args) : "";
    const deltas = tool
      ? [args.slice(0, 5), args.slice(5)].map((piece) => ({ toolUse: { input: piece } }))
      : chunks.map((piece) => ({ text: piece }));
    return [
      awsFrame("messageStart", { role: "assistant" }),
      ...(tool
        ? [
            awsFrame("contentBlockStart", {
              contentBlockIndex: 0,
              start: { toolUse: { toolUseId: "t1", name: tool.name } },
            }),
          ]
        : []),
      ...deltas.map((delta) => awsFrame("contentBlockDelta", { contentBlockIndex: 0, delta })),
      awsFrame("contentBlockStop", { contentBlockIndex: 0 }),
      awsFrame("messageStop", { stopReason: tool ? "tool_use" : "end_turn" }),
      awsFrame("metadata", {
        usage: { inputTokens: input, outputTokens: output, totalTokens: input + output },
        metrics: { latencyMs: 1 },
      }),
    ];
  },
  broken: awsFrame("contentBlockDelta", '{"contentBlockIndex": 0, "delta": {"te'),
  fail: (_status, message) => ({ message }),
};

const mistral: Api = {
  ...openaiChat,
  // the client adds a fragment to the path of its stream
  matches: /\/mistral\/v1\/chat\/completions/,
  question(body) {
    const asked = openaiChat.question(body);
    const { content } = last(body.messages);
    const seen = blocks(content).flatMap(({ type, image_url: url }) =>
      type === "image_url" ? [ofUrl(typeof url === "string" ? url : url.url)] : [],
    );
    return { ...asked, seen };
  },
  stream(answer) {
    const { tool, usage, chunks } = answer;
    const chunk = (delta: object, more: object = {}, counts: object = {}) =>
      sse({
        id: "c1",
        object: "chat.completion.chunk",
        model: "m",
        created: 1,
        choices: [{ index: 0, delta, finish_reason: null, ...more }],
        ...counts,
      });
    const { input, output } = usage;
    const calls = tool && [
      {
        id: "callabcde",
        index: 0,
        type: "function",
        function: { name: tool.name, arguments: JSON.stringify(tool.args) },
      },
    ];
    return [
      chunk({ role: "assistant", content: "" }),
      ...chunks.map((content) => chunk({ content })),
      chunk(
        { content: "", ...(calls && { tool_calls: calls }) },
        { finish_reason: tool ? "tool_calls" : "stop" },
        { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } },
      ),
      sse("[DONE]"),
    ];
  },
  fail: (_status, message) => ({ message, type: "invalid" }),
};

const ollama: Api = {
  matches: /\/api\/chat$/,
  model: (_path, body) => body.model,
  question(body) {
    const message = last(body.messages);
    const images = (message.images ?? []) as string[];
    const tools = (body.tools ?? []).map(({ function: f }: Json) => ({ name: f.name, schema: f.parameters }));
    return {
      text: message.content,
      seen: images.map((data) => `${data.length} characters`),
      tools,
      schema: body.format,
    };
  },
  contentType: "application/x-ndjson",
  stream({ chunks, tool, usage }) {
    const line = (message: object, more: object = {}) =>
      `${JSON.stringify({ model: "m", created_at: "2026-11-28T00:00:00Z", message: { role: "assistant", ...message }, done: false, ...more })}\n`;
    const calls = tool && [{ function: { name: tool.name, arguments: tool.args } }];
    return [
      line({ content: "" }),
      ...chunks.map((content) => line({ content })),
      ...(calls ? [line({ content: "", tool_calls: calls })] : []),
      line(
        { content: "" },
        { done: true, done_reason: "stop", prompt_eval_count: usage.input, eval_count: usage.output },
      ),
    ];
  },
  broken: '{"model": "m", "message": {"role": "assis\n',
  fail: (_status, message) => ({ error: message }),
};

const APIS: Api[] = [mistral, openaiChat, openaiResponses, anthropic, google, bedrock, ollama];

/** Embedding endpoints: the model, the texts, and the response in the provider's format. */
const EMBEDDING_APIS: {
  matches: RegExp;
  model(path: string, body: Json): string;
  texts(body: Json): string[];
  respond(vectors: number[][]): object;
}[] = [
  {
    matches: /\/embeddings(\?|$)/,
    model: (_path, body) => body.model,
    texts: (body) => [body.input].flat(),
    respond: (vectors) => ({
      object: "list",
      model: "m",
      id: "e1",
      data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
      usage: { prompt_tokens: 10 * vectors.length, total_tokens: 10 * vectors.length },
    }),
  },
  {
    matches: /:batchEmbedContents/,
    model: (path) => /models\/([^:]+):/.exec(decodeURIComponent(path))![1]!,
    texts: (body) => body.requests.map((each: Json) => text(each.content.parts)),
    respond: (vectors) => ({ embeddings: vectors.map((values) => ({ values })) }),
  },
  {
    matches: /\/model\/[^/]+\/invoke$/,
    model: (path) => /\/model\/([^/]+)\//.exec(decodeURIComponent(path))![1]!,
    texts: (body) => [body.inputText],
    respond: ([embedding]) => ({ embedding, inputTextTokenCount: 10 }),
  },
  {
    matches: /\/api\/embed$/,
    model: (_path, body) => body.model,
    texts: (body) => [body.input].flat(),
    respond: (embeddings) => ({ model: "m", embeddings, prompt_eval_count: 10 * embeddings.length }),
  },
];

/** An object that matches a schema. `length`: elements of its outermost lists. `text`: its texts. */
function sample(schema: Json, length = 1, text = "sample"): Json {
  if (schema?.enum) return schema.enum[0];
  switch (schema?.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, sample(inner, length, text)]),
      );
    case "array":
      return Array.from({ length }, (_, i) => sample(schema.items, 1, length > 1 ? `${text} ${i}` : text));
    case "number":
    case "integer":
      return 42;
    case "boolean":
      return true;
    default:
      return text;
  }
}

/** What `capitals` knows. */
export const CAPITALS = {
  Chile: "Santiago",
  France: "Paris",
  Germany: "Berlin",
  Italy: "Rome",
  Peru: "Lima",
  Spain: "Madrid",
};

/** Returns the capital of the country that a text names. */
export const findCapital = (asked: string): string =>
  Object.entries(CAPITALS).find(([country]) => asked.includes(country))?.[1] ?? "Nowhere";

function script({ messages }: Json): string | undefined {
  const answered = messages.filter(({ role }: Json) => role === "assistant").length;
  const asked = messages.filter(({ role }: Json) => role !== "assistant");
  const places = asked
    .map(({ content }: Json) => text(content))
    .join("\n")
    .matchAll(/\[\[(.*?)\]\]/gs);
  return [...places][answered]?.[1];
}

function decide(api: Api, model: string, body: Json, choose: ModelServer["script"]): Answer {
  const { text: asked, seen, tools, schema } = api.question(body);
  const scripted = model === "scripted" ? script(body) : undefined;
  if (scripted !== undefined) return { chunks: [scripted], usage: { input: 11, output: 7 } };
  if (model === "capitals") {
    const isChecked = JSON.stringify(body.messages).includes("Check");
    return { chunks: [isChecked ? findCapital(asked) : "Lyon"], usage: { input: 11, output: 7 } };
  }
  const usage = model === "lies" ? { input: 1e15, output: -5 } : { input: 11, output: 7 };
  if (schema) {
    const varied = model === "varied" ? [Number(/\d+/.exec(asked)?.[0] ?? 1), `of ${crc32(asked)}`] : [];
    const whole = JSON.stringify(choose?.(asked, schema) ?? sample(schema, ...(varied as [number?, string?])));
    return { chunks: [whole.slice(0, 4), whole.slice(4)], usage };
  }
  const [tool] = tools;
  if (tool) {
    const args = choose?.(asked, tool.schema) ?? sample(tool.schema);
    return { chunks: [], tool: { name: tool.name, args }, usage };
  }
  if (seen.length > 0) return { chunks: seen.map((each) => `saw ${each} `), usage };
  if (model === "endless-large") return { chunks: ["", "x".repeat(50_000)], usage };
  return { chunks: ["Hello ", "from ", `${model}: `, asked], usage };
}

/** Starts the server on loopback; it stops after the file's tests. */
export async function modelServer(): Promise<ModelServer> {
  const sockets = new Set<Socket>();
  const made: ModelServer = { url: "", port: 0, calls: [], written: 0, embedded: [] };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const sent = Buffer.concat(parts).toString();
      let resolve!: () => void;
      const aborted = new Promise<void>((settle) => (resolve = settle));
      const call: ModelCallSeen = {
        path: request.url ?? "",
        headers: request.headers,
        body: sent === "" ? undefined : JSON.parse(sent),
        aborted,
        isAborted: false,
      };
      response.on("close", () => {
        if (response.writableFinished) return;
        call.isAborted = true;
        resolve();
      });
      made.calls.push(call);
      void answer(call, response, made).catch(() => response.destroy());
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  made.port = (server.address() as AddressInfo).port;
  made.url = `http://127.0.0.1:${made.port}`;
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return made;
}

/** Waits until a response takes more, or is closed. */
async function drained(response: ServerResponse): Promise<void> {
  const settled = new AbortController();
  const options = { signal: settled.signal };
  const waits = [once(response, "drain", options), once(response, "close", options)];
  for (const wait of waits) wait.catch(() => {});
  await Promise.race(waits);
  settled.abort();
}

const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

async function answer({ path, headers, body }: ModelCallSeen, response: ServerResponse, made: ModelServer) {
  const json = (status: number, value: object, more: Record<string, string> = {}) => {
    response.writeHead(status, { "content-type": "application/json", ...more });
    response.end(JSON.stringify(value));
  };
  if (/\/models(\?|$)/.test(path)) return json(200, { data: [{ id: "model-b" }, { id: "model-a" }] });
  const embeddings = EMBEDDING_APIS.find(({ matches }) => matches.test(path));
  const api = APIS.find(({ matches }) => matches.test(path));
  if (embeddings) {
    const failing = Number(/^fail-(\d+)$/.exec(embeddings.model(path, body))?.[1] ?? 200);
    if (failing !== 200) return json(failing, openaiChat.fail(failing, "refused"));
    if (embeddings.model(path, body) === "silent") return;
    const texts = embeddings.texts(body);
    made.embedded.push(...texts);
    return json(200, embeddings.respond(texts.map(embedWords)));
  }
  if (!api) return json(404, { error: { message: `unknown path ${path}` } });
  const model = api.model(path, body);
  const status = Number(/^fail-(\d+)$/.exec(model)?.[1] ?? 200);
  if (status !== 200) {
    const key = KEY_HEADERS.map((name) => headers[name]).find(Boolean);
    const limited: Record<string, string> = status === 429 ? { "retry-after": "7" } : {};
    return json(status, api.fail(status, `refused the key ${String(key)}`), limited);
  }
  if (model === "silent") return;
  response.writeHead(200, { "content-type": api.contentType });
  const parts = api.stream(decide(api, model, body, made.script));
  if (model === "stall" || model === "cut" || model === "broken") {
    response.write(parts[0]!);
    response.write(parts[1]!);
    if (model === "cut") response.end();
    if (model === "broken") response.end(api.broken);
    return;
  }
  if (model.startsWith("endless")) {
    response.write(parts[0]!);
    response.write(parts[1]!);
    while (!response.destroyed) {
      made.written++;
      if (!response.write(parts[2]!)) await drained(response);
      else if (made.written % 50 === 0) await sleep(1);
    }
    return;
  }
  for (const part of parts) {
    response.write(part);
    // separate chunks on the wire
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}
