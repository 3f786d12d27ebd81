/**
 * Answers an interrupt in the moment in which a client sees it, on every protocol. The run that raised it may still be
 * ending then. Graph: `approval` of project/.
 */
import { randomUUID } from "node:crypto";
import { ClientFactory as FactoryV0 } from "a2a-sdk-v0/client";
import { Role } from "a2a-sdk-v1";
import { ClientFactory as FactoryV1, DefaultAgentCardResolver } from "a2a-sdk-v1/client";
import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client } from "langgraph-sdk-v1";
import WebSocket from "ws";

/** Asks and answers once. @returns the graph's state after the answer; throws if the answer is rejected */
type Talk = () => Promise<unknown>;

const GRAPH = "approval";
const QUESTION = { topic: "tea" };
const ANSWER = "yes";
const RUN_MS = 30_000;

export const PROTOCOLS: Record<string, (url: string) => Promise<Talk>> = {
  "a run's stream": (url) => rest(url, streamUntilAsked),
  "a thread's stream": (url) => rest(url, followUntilAsked),
  "a thread's state, polled": (url) => rest(url, pollUntilAsked),
  "a thread, polled": (url) => rest(url, pollThreadUntilAsked),
  "a run that is awaited": (url) => rest(url, waitUntilAsked),
  "protocol v2 over sse": (url) => protocol(url, "sse"),
  "protocol v2 over websocket": (url) => protocol(url, "websocket"),
  "protocol v2 after a polled state": protocolAfterPoll,
  MCP: mcp,
  "A2A 0.3": a2aV0,
  "A2A 0.3, polled": a2aPolled,
  "A2A 1.0": a2aV1,
};

/** Runs `talk` `count` times, some at a time. @returns a message for each answer that was rejected or had no effect */
export async function rejections(talk: Talk, count: number, atOnce = 4): Promise<string[]> {
  const rejected: string[] = [];
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      try {
        const state = (await talk()) as { answer?: unknown; log?: unknown } | undefined;
        if (state?.answer !== ANSWER) rejected.push(`the answer had no effect: ${JSON.stringify(state)}`);
      } catch (error) {
        rejected.push(String((error as Error).message).slice(0, 300));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return rejected;
}

const connect = (apiUrl: string) => new Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0 } });
const isQuestion = (data: unknown) => typeof data === "object" && data !== null && "__interrupt__" in data;

/** The answer is a new run, which may not be rejected although the strategy is reject. */
async function rest(
  url: string,
  untilAsked: (client: Client, thread: string, url: string) => Promise<void>,
): Promise<Talk> {
  const client = connect(url);
  return async () => {
    const { thread_id: thread } = await client.threads.create();
    await untilAsked(client, thread, url);
    const payload = { command: { resume: ANSWER }, multitaskStrategy: "reject" as const };
    const run = await client.runs.create(thread, GRAPH, payload);
    return client.runs.join(thread, run.run_id);
  };
}

async function streamUntilAsked(client: Client, thread: string): Promise<void> {
  for await (const { data } of client.runs.stream(thread, GRAPH, { input: QUESTION, streamMode: "updates" })) {
    if (isQuestion(data)) return;
  }
  throw new Error("the stream ended without the question");
}

/** Starts the run after the stream is open: a later reader would not see the question. */
async function followUntilAsked(client: Client, thread: string, url: string): Promise<void> {
  const abort = new AbortController();
  const { body } = await fetch(`${url}/threads/${thread}/stream?stream_mode=run_modes`, { signal: abort.signal });
  await client.runs.create(thread, GRAPH, { input: QUESTION, streamMode: "updates" });
  let text = "";
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (/"__interrupt__":\[.+\n/.test(text)) return abort.abort();
  }
  throw new Error("the stream ended without the question");
}

async function pollUntilAsked(client: Client, thread: string): Promise<void> {
  await client.runs.create(thread, GRAPH, { input: QUESTION });
  await interruptInState(client, thread);
}

const interruptInState = (client: Client, thread: string) =>
  poll(async () => (await client.threads.getState(thread)).tasks.flatMap(({ interrupts }) => interrupts)[0]?.id);

async function pollThreadUntilAsked(client: Client, thread: string): Promise<void> {
  await client.runs.create(thread, GRAPH, { input: QUESTION });
  await poll(async () => Object.values((await client.threads.get(thread)).interrupts ?? {})[0]);
}

async function poll<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new Error("no question after 30 s");
}

async function waitUntilAsked(client: Client, thread: string): Promise<void> {
  const values = await client.runs.wait(thread, GRAPH, { input: QUESTION });
  if (!isQuestion(values)) throw new Error(`no question: ${JSON.stringify(values)}`);
}

async function protocol(url: string, transport: "sse" | "websocket"): Promise<Talk> {
  const client = connect(url);
  const webSocketFactory = (at: string) => new WebSocket(at) as unknown as globalThis.WebSocket;
  return async () => {
    const stream = client.threads.stream(randomUUID(), { assistantId: GRAPH, transport, webSocketFactory });
    const seen: unknown[] = [];
    try {
      const done = new Promise<void>((resolve, reject) => {
        const late = () => reject(new Error(`no end of the run after ${RUN_MS} ms; events: ${JSON.stringify(seen)}`));
        setTimeout(late, RUN_MS).unref();
        stream.onEvent(({ method, params, seq }) => {
          seen.push([seq, method, (params.data as { event?: string }).event]);
          const { namespace, data } = params as { namespace: string[]; data: Record<string, unknown> };
          if (method === "input.requested") {
            const answer = { namespace, interrupt_id: String(data["interrupt_id"]), response: ANSWER };
            stream.input.respond(answer).catch(reject);
          }
          if (method !== "lifecycle" || namespace.length > 0) return;
          if (data["event"] === "completed") resolve();
          if (data["event"] === "failed") reject(new Error(JSON.stringify(data)));
        });
      });
      await stream.subscribe({ channels: ["lifecycle", "input"] });
      await stream.run.start({ input: QUESTION });
      await done;
      return (await client.threads.getState(stream.threadId)).values;
    } finally {
      await stream.close();
    }
  };
}

/** The state has an interrupt before its run has ended. */
async function protocolAfterPoll(url: string): Promise<Talk> {
  const client = connect(url);
  return async () => {
    const { thread_id: thread } = await client.threads.create();
    const command = async (method: string, params: object) => {
      const response = await fetch(`${url}/threads/${thread}/commands`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ id: 1, method, params }),
      });
      const { type, message } = (await response.json()) as { type: string; message?: string };
      if (type !== "success") throw new Error(message);
    };
    await command("run.start", { assistant_id: GRAPH, input: QUESTION });
    const interrupt_id = await interruptInState(client, thread);
    await command("input.respond", { namespace: [], interrupt_id, response: ANSWER });
    const [answered] = await client.runs.list(thread);
    return client.runs.join(thread, answered!.run_id);
  };
}

async function mcp(url: string): Promise<Talk> {
  const client = new McpClient({ name: "immediate answers", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url)) as never);
  return async () => {
    const asked = await client.callTool({ name: GRAPH, arguments: QUESTION });
    const { status, thread_id } = (asked.structuredContent ?? {}) as { status?: string; thread_id?: string };
    if (status !== "interrupted") throw new Error(`no question: ${JSON.stringify(asked)}`);
    const done = await client.callTool({ name: "resume_interrupted", arguments: { thread_id, answer: ANSWER } });
    const [{ text }] = done.content as [{ text: string }];
    if (done.isError) throw new Error(text);
    return JSON.parse(text);
  };
}

const cardPath = `/.well-known/agent-card.json?assistant_id=${GRAPH}`;

/** Sends the answer while the stream that shows `input-required` is still open. */
async function a2aV0(url: string): Promise<Talk> {
  const client = await new FactoryV0().createFromUrl(url, cardPath);
  const say = (part: object, more: object = {}) =>
    ({ message: { kind: "message", role: "user", messageId: randomUUID(), parts: [part], ...more } }) as never;
  return async () => {
    let answered: Promise<unknown> | undefined;
    for await (const event of client.sendMessageStream(say({ kind: "data", data: QUESTION }))) {
      if (event.kind !== "status-update" || event.status.state !== "input-required") continue;
      const { taskId, contextId } = event;
      answered ??= client.sendMessage(say({ kind: "text", text: ANSWER }, { taskId, contextId }));
      answered.catch(() => {});
    }
    const task = (await answered) as { artifacts?: { parts: { data?: unknown }[] }[] } | undefined;
    return task?.artifacts?.[0]?.parts[0]?.data;
  };
}

/** Polls the task instead of reading its stream. */
async function a2aPolled(url: string): Promise<Talk> {
  const client = await new FactoryV0().createFromUrl(url, cardPath);
  const say = (part: object, more: object = {}) => ({
    message: { kind: "message", role: "user", messageId: randomUUID(), parts: [part], ...more },
  });
  return async () => {
    const first = { ...say({ kind: "data", data: QUESTION }), configuration: { blocking: false } };
    const { id, contextId } = (await client.sendMessage(first as never)) as { id: string; contextId: string };
    await poll(async () => {
      const { status } = await client.getTask({ id });
      return status.state === "input-required" ? status : undefined;
    });
    const answer = say({ kind: "text", text: ANSWER }, { taskId: id, contextId });
    const task = (await client.sendMessage(answer as never)) as { artifacts?: { parts: { data?: unknown }[] }[] };
    return task.artifacts?.[0]?.parts[0]?.data;
  };
}

async function a2aV1(url: string): Promise<Talk> {
  const card = await new DefaultAgentCardResolver().resolve(url, cardPath);
  const client = await new FactoryV1().createFromAgentCard(card);
  const say = (content: object, ids = { taskId: "", contextId: "" }) =>
    ({
      tenant: "",
      message: {
        role: Role.ROLE_USER,
        messageId: randomUUID(),
        parts: [{ content, metadata: undefined, filename: "", mediaType: "" }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
        ...ids,
      },
      configuration: undefined,
      metadata: undefined,
    }) as never;
  // oxlint-disable-next-line typescript/no-explicit-any -- the SDK's unions of events
  type Event = any;
  return async () => {
    let answered: Promise<Event> | undefined;
    for await (const event of client.sendMessageStream(
      say({ $case: "data", value: QUESTION }),
    ) as AsyncIterable<Event>) {
      const { $case, value } = event.payload ?? event;
      if ($case !== "statusUpdate" || !value.status.message) continue;
      const { taskId, contextId } = value;
      answered ??= client.sendMessage(say({ $case: "text", value: ANSWER }, { taskId, contextId }));
      answered.catch(() => {});
    }
    const task = await answered;
    return (task?.payload?.value ?? task)?.artifacts?.[0]?.parts[0]?.content.value;
  };
}
