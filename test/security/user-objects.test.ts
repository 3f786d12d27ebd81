/**
 * Two users of one project's own authentication: one requests the other's objects by id, on every route of the agent
 * server, in its path, its query and its body. No object may be shown, counted, joined, cancelled or changed.
 */
import { fileURLToPath } from "node:url";

import { expect, test, vi } from "vitest";
import { z } from "zod";

import { agentRoutes } from "../../server/src/agent/index.ts";
import { createAgentApp } from "../../server/src/agent-app.ts";
import type { Route } from "../../server/src/base/http/route.ts";
import { testAgentServer } from "../../server/test/agent-server.ts";
import { openGuard } from "../../server/test/principal.ts";
import { changedTables, tableStates } from "./table-states.ts";

const PROJECT = fileURLToPath(new URL("../../server/test/fixtures/auth-project/langgraph.json", import.meta.url));
const MARK = "of-user-A-alone";
const [A, B] = ["the-user-a", "the-user-b"];
const { agent, sql } = await testAgentServer({ HEDDLE_LOG_LEVEL: "fatal" }, PROJECT);
const app = createAgentApp(agent.deps, openGuard);
const routes = agentRoutes(agent.deps)
  .filter(({ permission }) => permission !== "public")
  .toSorted((a, other) => Number(other.method === "GET") - Number(a.method === "GET"));
// without the protection of rewritten namespaces
agent.deps.access.handlers!.callbacks["store"] = ({ user }) => ({ namespace: { $contains: user.identity } });

async function ask(user: string, method: string, path: string, body?: string, limitMs = 1500) {
  const abort = new AbortController();
  const headers = {
    authorization: `Bearer ${user}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const request = new Request(`http://localhost${path}`, {
    method,
    headers,
    signal: abort.signal,
    ...(body && { body }),
  });
  const response = await app.fetch(request);
  const reader = response.body?.getReader();
  let text = "";
  // some streams never end
  const timer = setTimeout(() => void reader?.cancel().catch(() => {}), limitMs);
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += Buffer.from(part.value as Uint8Array).toString();
  }
  clearTimeout(timer);
  return { status: response.status, text };
}

async function made(path: string, body: object, method = "POST"): Promise<Record<string, string>> {
  // the first run waits for its graph host
  const { status, text } = await ask(A, method, path, JSON.stringify(body), 30_000);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return (text === "" ? {} : JSON.parse(text)) as Record<string, string>;
}

const metadata = { mark: MARK };
const input = { messages: [{ role: "human", content: MARK }] };
const thread = await made("/threads", { metadata });
await made(`/threads/${thread["thread_id"]}/runs/wait`, { assistant_id: "agent", input, metadata, webhook: "/hook" });
const state = (await (
  await app.request(`/threads/${thread["thread_id"]}/state`, { headers: { authorization: `Bearer ${A}` } })
).json()) as { checkpoint: { checkpoint_id: string } };
const busy = await made("/threads", { metadata });
const run = await made(`/threads/${busy["thread_id"]}/runs`, { assistant_id: "slow", input, metadata });
const assistant = await made("/assistants", {
  graph_id: "agent",
  name: MARK,
  metadata,
  config: { configurable: { setting: MARK } },
});
await made("/store/items", { namespace: [A, "notes"], key: "of-a", value: { text: MARK } }, "PUT");
const schedule = { schedule: "0 0 1 1 *", assistant_id: "agent", input, metadata };
const cron = await made("/runs/crons", schedule);
const bound = await made(`/threads/${thread["thread_id"]}/runs/crons`, schedule);

const [delivery] = await vi.waitFor(
  async () => {
    const found = await sql<{ delivery_id: string }[]>`select delivery_id from webhook_attempts`;
    if (found.length === 0) throw new Error("the webhook was not sent");
    return found;
  },
  { timeout: 120_000 },
);
// no receiver exists; the deliveries must not change by themselves while B tries
await sql`update webhook_deliveries set status = 'failed'`;

const things: Record<string, string[]> = {
  thread_id: [busy["thread_id"]!, thread["thread_id"]!],
  ids: [busy["thread_id"]!],
  thread_ids: [busy["thread_id"]!],
  run_id: [run["run_id"]!],
  run_ids: [run["run_id"]!],
  assistant_id: [assistant["assistant_id"]!],
  delivery_id: [delivery!.delivery_id],
  cron_id: [cron["cron_id"]!, bound["cron_id"]!],
  checkpoint_id: [state.checkpoint.checkpoint_id],
  namespace: [A],
  namespace_prefix: [A],
  prefix: [A],
  key: ["of-a"],
};
const ids = [...new Set(Object.values(things).flat())].filter((id) => id !== "of-a");

/** Required fields besides ids, so that requests get as far as the lookup. */
const FILL: Record<string, unknown> = {
  assistant_id: "agent",
  graph_id: "agent",
  input: { messages: [] },
  schedule: "0 0 1 1 *",
  namespace: [A],
  key: "of-a",
  value: { text: "B's" },
  values: { messages: [] },
  metadata: { of: "B" },
  channels: ["values", "lifecycle"],
  id: 1,
  version: 1,
  name: "B's",
  if_exists: "do_nothing",
  if_not_exists: "create",
  multitask_strategy: "rollback",
  strategy: "delete",
};

const pathParameters = ({ path }: Route): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

interface JsonSchema {
  properties?: object;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
}

function namesIn(schema: z.ZodType | undefined): { names: string[]; isArray: boolean } {
  if (!schema) return { names: [], isArray: false };
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as JsonSchema;
  const inner = json.items ?? json;
  const variants = [inner, ...(inner.anyOf ?? []), ...(inner.oneOf ?? [])];
  return {
    names: [...new Set(variants.flatMap((variant) => Object.keys(variant.properties ?? {})))],
    isArray: !!json.items,
  };
}

function* pathsTo(route: Route): Generator<string> {
  const params = pathParameters(route);
  const choices = params.map((name) => things[name] ?? ["x"]);
  const max = Math.max(1, ...choices.map((all) => all.length));
  for (let i = 0; i < max; i++) {
    let at = 0;
    const path = route.path.replace(/:(\w+)(\{[^}]*\})?/g, () => {
      const all = choices[at++]!;
      return all[i % all.length]!;
    });
    const query = namesIn(route.query).names.flatMap((name) => (things[name] ? [`${name}=${things[name][0]}`] : []));
    yield path;
    if (query.length > 0) yield `${path}?${query.join("&")}`;
  }
}

function* requestsTo(route: Route, creates = true): Generator<{ path: string; body?: string }> {
  const { names, isArray } = namesIn(route.body);
  const wrap = (body: object) => JSON.stringify(isArray ? [body] : body);
  const filled = Object.fromEntries(
    names.flatMap((name) => (name in FILL && (creates || name !== "if_not_exists") ? [[name, FILL[name]]] : [])),
  );
  for (const path of pathsTo(route)) {
    if (route.method === "GET") {
      yield { path };
      continue;
    }
    yield { path, body: wrap({}) };
    yield { path, body: wrap(filled) };
    for (const name of names) {
      for (const id of things[name] ?? []) {
        yield { path, body: wrap({ ...filled, [name]: id }) };
        yield { path, body: wrap({ ...filled, [name]: [id] }) };
        yield { path, body: wrap({ [name]: [id] }) };
      }
    }
    if (names.includes("method")) {
      for (const method of [
        "run.start",
        "input.respond",
        "state.get",
        "state.listCheckpoints",
        "state.fork",
        "agent.getTree",
      ]) {
        const params = {
          assistant_id: "agent",
          namespace: [],
          input: { messages: [] },
          checkpoint_id: things["checkpoint_id"]![0],
        };
        yield { path, body: wrap({ id: 1, method, params }) };
      }
    }
  }
  if (route.path === "/runs/cancel") {
    for (const status of ["pending", "running", "all"])
      yield { path: "/runs/cancel", body: JSON.stringify({ status }) };
    const both = { thread_id: busy["thread_id"], run_ids: [run["run_id"]] };
    yield { path: "/runs/cancel", body: JSON.stringify(both) };
  }
}

/** Routes whose bodies are messages of another protocol. */
const RPC: Record<string, { method: string; params: object }[]> = {
  "/mcp": [
    { method: "tools/list", params: {} },
    ...["agent", MARK, assistant["assistant_id"]!].map((name) => ({
      method: "tools/call",
      params: { name, arguments: {} },
    })),
  ],
  "/a2a/:assistant_id": [
    ...["message/send", "message/stream", "SendMessage"].flatMap((method) =>
      [
        { contextId: busy["thread_id"] },
        { contextId: busy["thread_id"], taskId: run["run_id"] },
        { taskId: run["run_id"] },
      ].map((ids) => ({
        method,
        params: {
          message: { role: "user", kind: "message", messageId: "1", parts: [{ kind: "text", text: "hello" }], ...ids },
        },
      })),
    ),
    ...["tasks/get", "GetTask", "tasks/cancel", "CancelTask"].map((method) => ({
      method,
      params: { id: run["run_id"] },
    })),
    ...["tasks/list", "ListTasks"].flatMap((method) =>
      [{}, { contextId: busy["thread_id"] }].map((params) => ({ method, params })),
    ),
  ],
};

function* messagesTo({ path, method }: Route): Generator<{ path: string; body: string }> {
  if (method !== "POST") return;
  for (const assistantId of ["agent", assistant["assistant_id"]!]) {
    for (const message of RPC[path] ?? []) {
      yield {
        path: path.replace(":assistant_id", assistantId),
        body: JSON.stringify({ jsonrpc: "2.0", id: "1", ...message }),
      };
    }
  }
}

test("every route declares its rule for the project's authorization", () => {
  const closed = routes.filter(({ auth }) => !auth).map(({ method, path }) => `${method} ${path}`);
  expect(closed).toEqual([]);
});

test("B's counts exclude A's objects", async () => {
  for (const [path, body] of [
    ["/threads/count", {}],
    ["/assistants/count", {}],
    ["/runs/crons/count", {}],
  ] as const) {
    expect(await ask(B, "POST", path, JSON.stringify(body))).toEqual({ status: 200, text: "0" });
  }
  expect((await ask(B, "POST", "/store/namespaces", "{}")).text).toBe(`{"namespaces":[]}`);
});

test("B can neither see nor change A's objects, whatever ids B has", { timeout: 180_000 }, async () => {
  const before = await tableStates(sql, ids, B);
  const wrong: string[] = [];
  let requestCount = 0;
  for (const route of routes) {
    for (const { path, body } of [...requestsTo(route), ...messagesTo(route)]) {
      requestCount += 1;
      const { status, text } = await ask(B, route.method, path, body);
      const what = `${route.method} ${path} ${body ?? ""}: ${status} ${text.slice(0, 300)}`;
      if (text.includes(MARK) && !body?.includes(MARK)) wrong.push(`shows what is A's: ${what}`);
      const leaked = ids.filter((id) => text.includes(id) && !`${path} ${body}`.includes(id));
      if (leaked.length > 0) wrong.push(`tells ${leaked.join(", ")}: ${what}`);
      const named = pathParameters(route).some((name) => things[name] !== undefined) && !path.endsWith("/a2a/agent");
      const hidden = /404: Thread not found|not found|"error"/.test(text);
      if (named && status < 300 && !hidden) wrong.push(`is answered: ${what}`);
      if (status >= 500) wrong.push(`breaks: ${what}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(changedTables(before, await tableStates(sql, ids, B))).toEqual([]);
  expect(requestCount).toBeGreaterThan(200);
  console.log(`${requestCount} requests by B for ${ids.length} things of A on ${routes.length} routes`);
});

const withoutIds = (text: string): string =>
  text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+[\d:]+)/g, "TIME");

test("the answer to B about an object of A is that about one that does not exist", { timeout: 300_000 }, async () => {
  const wrong: string[] = [];
  // these create what is missing, as the caller asks
  const creates = /"if_not_exists":"create",?|"message\/(send|stream)"|"SendMessage"/;
  let requestCount = 0;
  for (const route of routes.filter((each) => pathParameters(each).some((name) => things[name] !== undefined))) {
    for (const { path, body } of [...requestsTo(route, false), ...messagesTo(route)]) {
      if (body !== undefined && creates.test(body)) continue;
      // a WebSocket, whose commands may create the thread
      if (route.method === "GET" && route.path.endsWith("/stream/events")) continue;
      requestCount += 1;
      const missing = ids.filter((id) => id !== A).map((id) => [id, crypto.randomUUID()] as const);
      const toMissing = (text: string) => missing.reduce((all, [id, other]) => all.replaceAll(id, other), text);
      const foreign = await ask(B, route.method, path, body);
      const absent = await ask(B, route.method, toMissing(path), body && toMissing(body));
      const [aboutForeign, aboutMissing] = [foreign, absent].map(({ status, text }) => `${status} ${withoutIds(text)}`);
      if (aboutForeign === aboutMissing) continue;
      wrong.push(
        `${route.method} ${path} ${body ?? ""}: ${aboutForeign!.slice(0, 200)} / ${aboutMissing!.slice(0, 200)}`,
      );
    }
  }
  expect(wrong).toEqual([]);
  expect(requestCount).toBeGreaterThan(100);
});

test("A can see them all, as a control for the test above", { timeout: 180_000 }, async () => {
  const unseen: string[] = [];
  for (const route of routes.filter((route) => route.method === "GET" && pathParameters(route).length > 0)) {
    const outcomes = [];
    for (const { path } of requestsTo(route)) outcomes.push((await ask(A, "GET", path)).status < 300);
    if (!outcomes.includes(true)) unseen.push(route.path);
  }
  // a WebSocket, routes closed to users, a run that is not stateless, a checkpoint of the other thread
  expect(
    unseen.filter((path) => !/stream\/events|^\/runs\/:run_id|:checkpoint_id|subgraphs\/:namespace/.test(path)),
  ).toEqual([]);
  expect((await ask(A, "POST", "/threads/count", "{}")).text).toBe("2");
});
