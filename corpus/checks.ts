/** What each project of the corpus must do when a client drives it. */
import assert from "node:assert/strict";

/** The part of the SDK's client that the checks use, the same in 1.15.0 and 2.0.0. */
// oxlint-disable-next-line typescript/no-explicit-any -- the clients come from npm at run time
export type Client = any;

export interface Target {
  url: string;
  /** Creates a client with these headers. */
  connect(headers?: Record<string, string>): Client;
}

export interface Message {
  id?: string;
  type: string;
  content: unknown;
  tool_calls?: { name: string }[];
  additional_kwargs: Record<string, unknown>;
}

export type Check = (client: Client, target: Target) => Promise<void>;

export const say = (content: string) => ({ messages: [{ role: "user", content }] });

export const text = ({ content }: Message): string =>
  typeof content === "string" ? content : (content as { text?: string }[]).map(({ text = "" }) => text).join("");

/** Runs one turn on a new thread, streamed by tokens, and returns the messages of the thread. */
async function streamTurn(client: Client, assistant: string, input: object, config: object = {}): Promise<Message[]> {
  const { thread_id: thread } = await client.threads.create();
  let tokens = 0;
  let streamed = "";
  for await (const { event, data } of client.runs.stream(thread, assistant, {
    input,
    streamMode: ["messages-tuple", "values"],
    streamSubgraphs: true,
    ...config,
  })) {
    assert.notEqual(event, "error", JSON.stringify(data));
    if (!event.startsWith("messages")) continue;
    tokens += 1;
    if (/^ai/i.test(data[0].type)) streamed += text(data[0] as Message);
  }
  const { values } = await client.threads.getState(thread);
  const { messages } = values as { messages: Message[] };
  assert.ok(tokens > 2, `${tokens} message events`);
  assert.ok(streamed.includes(text(messages.at(-1)!)), `the last message is not among the tokens: ${streamed}`);
  return messages;
}

/** Checks that a turn calls a tool, and reports its result. */
export async function usesTool(client: Client, tool: string, input: object, answer: RegExp, config: object = {}) {
  const messages = await streamTurn(client, "agent", say(`use ${tool} ${JSON.stringify(input)}`), config);
  const call = messages.find(({ tool_calls: calls }) => calls?.some(({ name }) => name === tool));
  assert.ok(call, `no call of ${tool} in ${JSON.stringify(messages)}`);
  assert.match(text(messages.at(-1)!), answer);
}

/** Checks that a conversation keeps its messages over two turns. */
export async function keepsConversation(client: Client): Promise<void> {
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "agent", { input: say("one") });
  const values = await client.runs.wait(thread, "agent", { input: say("two") });
  const texts = (values as { messages: Message[] }).messages.map(text);
  assert.deepEqual(texts, ["one", "You said: one", "two", "You said: two"]);
  const history = await client.threads.getHistory(thread);
  assert.ok(history.length >= 4, `${history.length} checkpoints`);
}

const SCHEMAS_MS = 120_000;

/** Checks the properties of a schema. Those that come from the source may come later than the first answer. */
export async function hasProperties(
  client: Client,
  kind: string,
  expected: string[],
  assistant = "agent",
): Promise<void> {
  for (const deadline = Date.now() + SCHEMAS_MS; ; await new Promise((done) => setTimeout(done, 1000))) {
    const schemas = await client.assistants.getSchemas(assistant);
    const found = Object.keys(resolveSchema(schemas[kind]).properties ?? {}).toSorted();
    if (found.join() === expected.join()) return;
    assert.ok(Date.now() < deadline, `${kind} has ${found.join()}, not ${expected.join()}: ${JSON.stringify(schemas)}`);
  }
}

interface Schema {
  $ref?: string;
  definitions?: Record<string, Schema>;
  properties?: object;
}

const resolveSchema = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : schema.definitions![schema.$ref.split("/").pop()!]!;

/** Checks that pages of the project's `http.cors` may call the server. */
export async function allowsOrigin(url: string): Promise<void> {
  const preflight = await fetch(`${url}/threads`, {
    method: "OPTIONS",
    headers: { origin: "https://app.example", "access-control-request-method": "POST" },
  });
  assert.equal(preflight.headers.get("access-control-allow-origin"), "https://app.example");
}

/** Checks that callers need a token, and that users of the project's `auth` see their own threads and items only. */
export async function separatesUsers(client: Client, { connect }: Pick<Target, "connect">): Promise<void> {
  await assert.rejects(client.threads.create(), { status: 401 });
  const anna = connect({ authorization: "Bearer token-anna" });
  const ben = connect({ authorization: "Bearer token-ben" });
  const thread = await anna.threads.create();
  assert.equal(thread.metadata.owner, "anna");
  const values = await anna.runs.wait(thread.thread_id, "agent", { input: say("hi") });
  assert.equal(text(values.messages.at(-1)), "Hello anna");
  await assert.rejects(ben.threads.get(thread.thread_id), { status: 404 });
  const seen = await ben.threads.search({ ids: [thread.thread_id] });
  assert.deepEqual(seen, []);
  await anna.store.putItem(["anna"], "key", { a: 1 });
  await assert.rejects(ben.store.getItem(["anna"], "key"), { status: 403 });
}

export const CHECKS: Record<string, Check> = {
  async "template-0-2"(client) {
    await usesTool(client, "search", { query: "tea" }, /results for tea/);
    await keepsConversation(client);
    await hasProperties(client, "config_schema", ["model", "systemPromptTemplate"]);
    const config = { config: { configurable: { model: "anthropic/claude-3-5-haiku-latest" } } };
    await usesTool(client, "search", { query: "milk" }, /results for milk/, config);
  },

  async "memory-0-3"(client) {
    const config = { config: { configurable: { userId: "anna" } } };
    await usesTool(client, "upsertMemory", { content: "likes tea" }, /stored for anna/, config);
    const { items } = await client.store.searchItems(["memories", "anna"]);
    assert.ok(items.some((item: { value: { content: string } }) => item.value.content === "likes tea"));
  },

  async "monorepo-0-4"(client) {
    await keepsConversation(client);
    const values = await client.runs.wait(null, "agent", { input: say("hello") });
    assert.equal(values.heard, "shared-1: hello");
    await hasProperties(client, "output_schema", ["heard", "messages"]);
  },

  async "create-agent"(client) {
    await usesTool(client, "get_weather", { city: "Berlin" }, /sunny in Berlin/, { context: { tone: "warm" } });
    const { thread_id: thread } = await client.threads.create();
    const paused = await client.runs.wait(thread, "agent", { input: say('use send_mail {"to": "anna"}') });
    assert.equal(paused.__interrupt__?.length, 1, JSON.stringify(paused));
    const values = await client.runs.wait(thread, "agent", {
      command: { resume: { decisions: [{ type: "approve" }] } },
    });
    assert.match(text(values.messages.at(-1)), /sent to anna/);
    assert.equal(values.modelCalls, 2);
  },

  async "deep-agent"(client) {
    await usesTool(client, "internet_search", { query: "tea" }, /results for tea/);
    const task = { description: 'use internet_search {"query": "milk"}', subagent_type: "critic" };
    await usesTool(client, "task", task, /results for milk/);
    const write = { file_path: "/notes.md", content: "Tea is good." };
    const { thread_id: thread } = await client.threads.create();
    const values = await client.runs.wait(thread, "agent", { input: say(`use write_file ${JSON.stringify(write)}`) });
    assert.ok(values.files?.["/notes.md"], `no file in ${Object.keys(values).join(", ")}`);
  },

  async "multi-graph"(client) {
    const { thread_id: thread } = await client.threads.create();
    const written = await client.runs.wait(thread, "writer", { input: say("a poem") });
    assert.deepEqual(written.drafts, ["You said: a poem"]);
    const reviewed = await client.runs.wait(thread, "reviewer", {
      input: {},
      config: { configurable: { level: "harsh" } },
    });
    assert.deepEqual(reviewed.drafts, ["You said: a poem", "harsh review for editors"]);
    const drafted = await client.runs.wait(null, "draft", { input: say("a play") });
    assert.deepEqual(drafted.drafts, ["You said: a play"]);
    await hasProperties(client, "input_schema", ["drafts", "messages"], "writer");
    const found = await client.assistants.search();
    const graphs = found.map(({ graph_id: id }: { graph_id: string }) => id).toSorted();
    assert.deepEqual(graphs, ["draft", "reviewer", "writer"]);
  },

  async commonjs(client) {
    const messages = await streamTurn(client, "agent", say("three short words"));
    assert.equal(text(messages.at(-1)!), "You said: three short words");
    const values = await client.runs.wait(null, "agent", { input: say("three short words") });
    assert.equal(values.words, 3);
  },

  async "plain-javascript"(client) {
    await keepsConversation(client);
    assert.deepEqual(await client.runs.wait(null, "old", { input: { text: "hi" } }), { text: "HI" });
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, "workflow", { input: 4 });
    const resumed = await client.runs.wait(thread, "workflow", { command: { resume: 2 } });
    assert.equal(resumed.result, 10);
  },

  async "hono-app"(client, { url }) {
    const asked = await fetch(`${url}/ask`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "who?" }),
    });
    assert.equal(asked.status, 200, await asked.clone().text());
    assert.equal(asked.headers.get("x-corpus"), "hono");
    const { values } = (await asked.json()) as { values: { messages: Message[] } };
    assert.equal(text(values.messages.at(-1)!), "You said: who?");
    assert.equal(typeof values.messages.at(-1)!.additional_kwargs["threads"], "number");
    const ticks = await (await fetch(`${url}/ticks`)).text();
    assert.equal(ticks.match(/event: tick/g)?.length, 3);
    await allowsOrigin(url);
    await keepsConversation(client);
  },

  "custom-auth": separatesUsers,

  async "ui-tailwind"(client, { url }) {
    const values = await client.runs.wait(null, "agent", { input: say("weather?") });
    assert.equal(values.ui[0].name, "weather");
    assert.deepEqual(values.ui[0].props, { city: "Berlin" });
    // `id` in SDK 1, `message_id` in SDK 2
    assert.equal(values.ui[0].metadata.id, values.messages.at(-1).id);
    assert.match(values.ui[0].metadata.run_id, /^[0-9a-f-]{36}$/);
    const page = await fetch(`${url}/ui/agent`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "weather" }),
    });
    const html = await page.text();
    assert.equal(page.status, 200, html);
    const files = [...html.matchAll(/(?:src|href)=\\?["']([^"'\\]+)/g)].map(([, path]) => path!);
    assert.ok(files.length >= 2, html);
    let style = "";
    for (const path of files) {
      const at = new URL(path.startsWith("//") ? `http:${path}` : path, url);
      const base = new URL(url);
      const file = await fetch(new URL(at.pathname, at.host === base.host ? at : base));
      assert.equal(file.status, 200, `${path}: ${file.status}`);
      const body = await file.text();
      if (path.endsWith(".css")) style += body;
    }
    assert.match(style, /rounded-\\\[7px\\\]/, "Tailwind has not seen the classes of the components");
  },

  async "store-embeddings"(client) {
    await client.runs.wait(null, "agent", { input: { note: "green tea with lemon", question: "tea" } });
    const values = await client.runs.wait(null, "agent", {
      input: { note: "the train leaves at nine", question: "when does the train leave" },
    });
    assert.deepEqual(values.found, ["the train leaves at nine"]);
    const { items } = await client.store.searchItems(["notes"], { query: "tea lemon", limit: 1 });
    assert.equal(items[0].value.text, "green tea with lemon");
    assert.equal(typeof items[0].score, "number");
  },

  async "subgraph-interrupts"(client) {
    const { thread_id: thread } = await client.threads.create();
    const resume = (value: unknown) => client.runs.wait(thread, "agent", { command: { resume: value } });
    const paused = await client.runs.wait(thread, "agent", { input: { city: "Rome" } });
    assert.deepEqual(paused.__interrupt__[0].value, { ask: "Which hotel in Rome?" });
    const state = await client.threads.getState(thread, undefined, { subgraphs: true });
    assert.equal(state.tasks[0].state.values.city, "Rome");
    const confirming = await resume("Roma");
    assert.deepEqual(confirming.__interrupt__[0].value, { confirm: "Roma" });
    const again = await resume(false);
    assert.deepEqual(again.__interrupt__[0].value, { ask: "Which hotel in Rome?" });
    await resume("Grand");
    const done = await resume(true);
    assert.equal(done.hotel, "Grand");
    assert.deepEqual(done.log, ["confirmed", "done with Grand"]);
    const subgraphs = await client.assistants.getSubgraphs("agent");
    assert.deepEqual(Object.keys(subgraphs), ["book"]);
  },
};
