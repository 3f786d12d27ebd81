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
 * - `endless`: never ends; `broken`: sends JSON that is cut off; `cut`: closes the connection amid the answer, cleanly
 * - `lies`: reports an absurd usage
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { atEnd } from "./at-end.ts";

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

const APIS: Api[] = [openaiChat];

/** An object that matches a schema. */
function sample(schema: Json): Json {
  if (schema?.enum) return schema.enum[0];
  switch (schema?.type) {
    case "object":
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, sample(inner)]));
    case "array":
      return [sample(schema.items)];
    case "number":
    case "integer":
      return 42;
    case "boolean":
      return true;
    default:
      return "sample";
  }
}

function decide(api: Api, model: string, body: Json): Answer {
  const { text: asked, seen, tools, schema } = api.question(body);
  const usage = model === "lies" ? { input: 1e15, output: -5 } : { input: 11, output: 7 };
  if (schema) {
    const whole = JSON.stringify(sample(schema));
    return { chunks: [whole.slice(0, 4), whole.slice(4)], usage };
  }
  const [tool] = tools;
  if (tool) return { chunks: [], tool: { name: tool.name, args: sample(tool.schema) }, usage };
  if (seen.length > 0) return { chunks: seen.map((each) => `saw ${each} `), usage };
  return { chunks: ["Hello ", "from ", `${model}: `, asked], usage };
}

/** Starts the server on loopback; it stops after the file's tests. */
export async function modelServer(): Promise<ModelServer> {
  const sockets = new Set<Socket>();
  const made: ModelServer = { url: "", port: 0, calls: [], written: 0 };
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

const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

async function answer({ path, headers, body }: ModelCallSeen, response: ServerResponse, made: ModelServer) {
  const json = (status: number, value: object, more: Record<string, string> = {}) => {
    response.writeHead(status, { "content-type": "application/json", ...more });
    response.end(JSON.stringify(value));
  };
  if (/\/models(\?|$)/.test(path)) return json(200, { data: [{ id: "model-b" }, { id: "model-a" }] });
  const api = APIS.find(({ matches }) => matches.test(path));
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
  const parts = api.stream(decide(api, model, body));
  if (model === "stall" || model === "cut" || model === "broken") {
    response.write(parts[0]!);
    response.write(parts[1]!);
    if (model === "cut") response.end();
    if (model === "broken") response.end(api.broken);
    return;
  }
  if (model === "endless") {
    response.write(parts[0]!);
    while (!response.destroyed) {
      made.written++;
      if (!response.write(parts[1]!)) await Promise.race([once(response, "drain"), once(response, "close")]);
      else if (made.written % 50 === 0) await sleep(1);
    }
    return;
  }
  for (const part of parts) {
    response.write(part);
    // chunks of their own on the wire
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}
