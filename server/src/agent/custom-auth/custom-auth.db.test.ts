import { randomUUID } from "node:crypto";

import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";
import type { Credentials } from "../../base/auth/principal.ts";
import { unauthorized } from "../../base/errors.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/auth-project/langgraph.json", import.meta.url));
const { call, agent } = await testAgentServer({}, PROJECT);

const as =
  (user: string) =>
  (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(method, path, body, { authorization: `Bearer ${user}`, ...headers });
const anna = as("anna");
const ben = as("ben");
const admin = as("admin");
const HELLO = { assistant_id: "agent", input: { messages: [{ role: "human", content: "hello" }] } };
const parseReply = (values: { messages: { content: string }[] }) =>
  JSON.parse(values.messages.at(-1)!.content) as Record<string, unknown>;

test("authenticate accepts or rejects requests, with its own status, message and headers", async () => {
  const anonymous = await call("POST", "/threads/search", {});
  expect([anonymous.status, anonymous.text, anonymous.headers.get("www-authenticate")]).toEqual([
    401,
    "Who are you?",
    "Bearer",
  ]);
  expect((await as("broken")("POST", "/threads/search", {})).status).toBe(500);
  expect((await as("nonsense")("POST", "/threads/search", {})).status).toBe(500);
  expect((await as("plain")("POST", "/threads/search", {})).status).toBe(200);
  // health and description need no authentication
  for (const open of ["/ok", "/info", "/openapi.json"]) expect((await call("GET", open)).status).toBe(200);
});

test("rejects a request with Studio's header alone", async () => {
  const response = await call("POST", "/threads/search", {}, { "x-auth-scheme": "langsmith" });
  expect(response.status).toBe(401);
});

test("only the owner sees, counts, changes and deletes a thread", async () => {
  const { json: thread } = await anna("POST", "/threads", { metadata: { topic: "one" } });
  expect(thread.metadata).toEqual({ topic: "one", owner: "anna" });
  const path = `/threads/${thread.thread_id}`;
  expect((await anna("GET", path)).json.thread_id).toBe(thread.thread_id);
  expect((await ben("GET", path)).status).toBe(404);
  expect((await ben("PATCH", path, { metadata: { owner: "ben" } })).status).toBe(404);
  expect((await ben("POST", `${path}/copy`)).status).toBe(409);
  expect((await ben("GET", `${path}/state`)).status).toBe(404);
  expect((await ben("POST", `${path}/state`, { values: {} })).status).toBe(404);
  expect((await ben("POST", `/threads/${randomUUID()}/state`, { values: {} })).status).toBe(404);
  expect((await ben("DELETE", path)).status).toBe(404);
  expect((await ben("POST", "/threads/search", {})).json).toEqual([]);
  expect((await ben("POST", "/threads/count", {})).json).toBe(0);
  expect((await anna("POST", "/threads/count", {})).json).toBe(1);
  expect((await ben("POST", "/threads/search", { ids: [thread.thread_id] })).headers.get("x-pagination-total")).toBe(
    "0",
  );
  // the answer for a taken id reveals nothing, whatever if_exists is
  for (const if_exists of ["raise", "do_nothing"]) {
    expect((await ben("POST", "/threads", { thread_id: thread.thread_id, if_exists })).status).toBe(409);
  }
  expect((await ben("POST", "/threads/prune", { thread_ids: [thread.thread_id] })).json).toEqual({ pruned_count: 0 });
  expect((await admin("GET", path)).status).toBe(200);
  expect((await anna("POST", `${path}/copy`)).json.metadata.owner).toBe("anna");
  expect((await anna("DELETE", path)).status).toBe(204);
});

test("a handler that returns false causes a 403", async () => {
  const keeper = as("keeper");
  const { json: thread } = await keeper("POST", "/threads", {});
  expect((await keeper("DELETE", `/threads/${thread.thread_id}`)).status).toBe(403);
  expect((await keeper("GET", `/threads/${thread.thread_id}`)).status).toBe(200);
});

test("a user who may not update a thread cancels its runs by no route", async () => {
  const watcher = as("watcher");
  const { json: thread } = await watcher("POST", "/threads", {});
  const { json: run } = await watcher("POST", `/threads/${thread.thread_id}/runs`, { ...HELLO, assistant_id: "slow" });
  const path = `/threads/${thread.thread_id}/runs/${run.run_id}`;
  expect((await watcher("POST", `${path}/cancel`)).status).toBe(403);
  for (const reader of [path, `/runs/${run.run_id}`]) {
    for (const kind of ["join", "stream"]) {
      expect((await watcher("GET", `${reader}/${kind}?cancel_on_disconnect=true`)).status).toBe(403);
    }
  }
  const cancelled = { jsonrpc: "2.0", id: 1, method: "tasks/cancel", params: { id: run.run_id } };
  expect((await watcher("POST", "/a2a/slow", cancelled)).text).toContain("Forbidden");
  expect((await watcher("GET", path)).json.status).toMatch(/pending|running/);
  await admin("POST", `${path}/cancel?wait=1`);
});

test("rejects creating, joining, listing and cancelling runs on another user's thread", async () => {
  const { json: thread } = await anna("POST", "/threads", {});
  const runs = `/threads/${thread.thread_id}/runs`;
  const run = (await anna("POST", runs, { ...HELLO, assistant_id: "slow" })).json;
  expect(run.metadata.owner).toBe("anna");
  for (const if_not_exists of ["reject", "create"]) {
    for (const how of ["", "/stream", "/wait"]) {
      const response = await ben("POST", `${runs}${how}`, { ...HELLO, if_not_exists, multitask_strategy: "rollback" });
      expect([response.status, response.text]).toEqual([404, `Thread with ID ${thread.thread_id} not found`]);
    }
  }
  expect((await ben("GET", runs)).status).toBe(404);
  expect((await ben("GET", `${runs}/${run.run_id}`)).status).toBe(404);
  expect((await ben("GET", `${runs}/${run.run_id}/join`)).status).toBe(404);
  expect((await ben("DELETE", `${runs}/${run.run_id}`)).status).toBe(404);
  for (const stream of [`${runs}/${run.run_id}/stream`, `/runs/${run.run_id}/stream`]) {
    expect((await ben("GET", stream)).text).toContain(
      `event: error\ndata: {"error":"Error","message":"404: Thread not found"}`,
    );
  }
  expect((await ben("POST", `${runs}/${run.run_id}/cancel`)).status).toBe(404);
  expect((await ben("POST", "/runs/cancel", { status: "all" })).status).toBe(404);
  expect((await ben("POST", "/runs/cancel", { thread_id: thread.thread_id, run_ids: [run.run_id] })).status).toBe(404);
  expect((await anna("GET", `${runs}/${run.run_id}`)).json.status).toMatch(/pending|running/);
  expect((await anna("POST", "/runs/cancel", { status: "all" })).status).toBe(204);
  await anna("GET", `${runs}/${run.run_id}/join`);
  expect((await anna("GET", `${runs}/${run.run_id}`)).json.status).toBe("interrupted");
});

test("an unknown checkpoint on another user's thread reveals nothing about the thread", async () => {
  const { json: thread } = await anna("POST", "/threads", {});
  const run = { ...HELLO, checkpoint_id: randomUUID() };
  const response = await ben("POST", `/threads/${thread.thread_id}/runs/wait`, run);
  expect(response.text).toBe(`Thread with ID ${thread.thread_id} not found`);
});

test("only the user who started a stateless run can read its result", async () => {
  const done = await anna("POST", "/runs/wait", HELLO);
  const runId = done.headers.get("content-location")!.split("/").at(-1)!;
  expect((await ben("GET", `/runs/${runId}/join`)).status).toBe(404);
  expect((await ben("GET", `/runs/${runId}/stream`)).text).toContain("404: Thread not found");
  expect((await anna("GET", `/runs/${runId}/join`)).json).toEqual(done.json);
  const reply = await anna("POST", "/runs/wait", { ...HELLO, on_completion: "keep" });
  expect(parseReply(reply.json)["id"]).toBe("anna");
  const [thread] = (await anna("POST", "/threads/search", { status: "idle", limit: 1 })).json;
  expect(thread.metadata.owner).toBe("anna");
});

test("the graph receives its user, and a request cannot impersonate another user", async () => {
  const claimed = { langgraph_auth_user_id: "admin", langgraph_auth_user: { identity: "admin" }, setting: 1 };
  const config = { configurable: claimed };
  const { json } = await anna(
    "POST",
    "/runs/wait",
    { ...HELLO, config },
    { "x-request-of": "mine", "x-api-key": "secret" },
  );
  const user = {
    identity: "anna",
    permissions: ["own"],
    display_name: "anna by name",
    team: "yes",
    is_authenticated: true,
  };
  expect(parseReply(json)).toEqual({ user, id: "anna", permissions: ["own"], header: "mine", setting: 1 });
  // nor is it stored with the thread
  const { json: thread } = await anna("POST", "/threads", {});
  await anna("POST", `/threads/${thread.thread_id}/runs/wait`, { ...HELLO, config });
  const { json: after } = await anna("GET", `/threads/${thread.thread_id}`);
  expect(after.config.configurable).toEqual({ setting: 1 });
});

test("assistants belong to their creators, and all users may run the default ones", async () => {
  const { json: mine } = await anna("POST", "/assistants", {
    graph_id: "agent",
    config: { configurable: { setting: "secret" } },
  });
  expect(mine.metadata).toEqual({ owner: "anna" });
  const path = `/assistants/${mine.assistant_id}`;
  for (const [method, rest, body] of [
    ["GET", ""],
    ["PATCH", "", { name: "ben's" }],
    ["DELETE", "?delete_threads=true"],
    ["GET", "/schemas"],
    ["GET", "/graph"],
    ["GET", "/subgraphs"],
    ["POST", "/versions", {}],
    ["POST", "/latest", { version: 1 }],
  ] as const) {
    expect((await ben(method, path + rest, body)).status, `${method} ${rest}`).toBe(404);
  }
  expect((await ben("POST", "/assistants/search", {})).json).toEqual([]);
  expect((await ben("POST", "/assistants/count", {})).json).toBe(0);
  expect(
    (await ben("POST", "/assistants", { assistant_id: mine.assistant_id, graph_id: "agent", if_exists: "do_nothing" }))
      .status,
  ).toBe(409);
  const rejected = await ben("POST", "/runs/wait", { ...HELLO, assistant_id: mine.assistant_id });
  expect(rejected.status).toBe(404);
  expect(
    parseReply((await anna("POST", "/runs/wait", { ...HELLO, assistant_id: mine.assistant_id })).json)["setting"],
  ).toBe("secret");
  expect((await anna("PATCH", path, { metadata: { owner: "ben" } })).json.metadata.owner).toBe("anna");
  // other users' threads with its runs stay
  const { json: thread } = await ben("POST", "/threads", { metadata: { assistant_id: mine.assistant_id } });
  expect((await anna("DELETE", `${path}?delete_threads=true`)).status).toBe(200);
  expect((await ben("GET", `/threads/${thread.thread_id}`)).status).toBe(200);
});

test("crons belong to their creators and run as them, and handlers change what is stored", async () => {
  const yearly = { assistant_id: "agent", schedule: "0 0 1 1 *", input: { messages: [] } };
  const posing = { config: { configurable: { langgraph_auth_user: { identity: "admin" } } } };
  const { json: cron } = await anna("POST", "/runs/crons", { ...yearly, ...posing });
  expect(cron).toMatchObject({ metadata: { owner: "anna" }, user_id: "anna", schedule: "0 0 1 1 *" });
  expect(cron.payload.config.configurable).toMatchObject({ langgraph_auth_user_id: "anna" });
  const path = `/runs/crons/${cron.cron_id}`;
  for (const [method, body] of [["GET"], ["PATCH", { enabled: false }], ["DELETE"]] as const) {
    expect((await ben(method, path, body)).status).toBe(404);
  }
  expect((await ben("POST", "/runs/crons/search", {})).json).toEqual([]);
  expect((await ben("POST", "/runs/crons/count", {})).json).toBe(0);
  const { json: thread } = await anna("POST", "/threads", {});
  expect((await ben("POST", `/threads/${thread.thread_id}/runs/crons`, yearly)).status).toBe(404);
  expect((await anna("GET", path)).json.enabled).toBe(true);
  const planned = (await as("planner")("POST", "/runs/crons", yearly)).json;
  expect(planned).toMatchObject({ schedule: "0 6 * * *", payload: { config: { tags: ["planned"] } } });
  expect(planned.next_run_date).toMatch(/T06:00:00/);
});

test("a handler that makes the value invalid causes a 500, and nothing is stored", async () => {
  const { callbacks } = agent.deps.access.handlers!;
  callbacks["threads:update"] = ({ value }) => void (value["metadata"] = "none");
  const { json: thread } = await anna("POST", "/threads", {});
  expect((await anna("PATCH", `/threads/${thread.thread_id}`, { metadata: {} })).status).toBe(500);
  delete callbacks["threads:update"];
});

test("asks the most specific handler: event, resource, action of all, all", async () => {
  const { callbacks } = agent.deps.access.handlers!;
  const calls: string[] = [];
  const before = { ...callbacks };
  const order = ["threads:read", "threads", "*:read", "*"];
  for (const name of order) callbacks[name] = ({ event }) => void calls.push(`${name} for ${event}`);
  for (const name of order) {
    await anna("GET", `/threads/${crypto.randomUUID()}`);
    delete callbacks[name];
  }
  expect(calls).toEqual(order.map((name) => `${name} for threads:read`));
  Object.assign(callbacks, before);
});

test("store: handlers rewrite namespaces, and other users' items are not seen, counted or written", async () => {
  const put = (user: typeof anna, key: string, value: object, namespace = ["notes"]) =>
    user("PUT", "/store/items", { namespace, key, value });
  expect((await put(anna, "one", { text: "anna's" })).status).toBe(204);
  const { json: items } = await anna("POST", "/store/items/search", { namespace_prefix: ["notes"] });
  expect(items.items).toMatchObject([{ namespace: ["anna", "notes"], key: "one", value: { text: "anna's" } }]);
  expect((await anna("GET", "/store/items?namespace=notes&key=one")).json.value).toEqual({ text: "anna's" });
  expect((await ben("GET", "/store/items?namespace=notes&key=one")).json).toBeNull();
  expect((await ben("POST", "/store/items/search", { namespace_prefix: [] })).json).toEqual({ items: [] });
  expect((await ben("POST", "/store/namespaces", {})).json).toEqual({ namespaces: [] });
  expect((await anna("POST", "/store/namespaces", {})).json).toEqual({ namespaces: [["anna", "notes"]] });
  // under anna's namespace, as a handler that rewrites nothing would leave it
  const { callbacks } = agent.deps.access.handlers!;
  const before = callbacks["store"]!;
  callbacks["store"] = ({ user }) => ({ namespace: { $contains: user.identity } });
  const hers = ["anna", "notes"];
  expect((await ben("GET", "/store/items?namespace=anna.notes&key=one")).json).toBeNull();
  expect((await ben("POST", "/store/items/search", { namespace_prefix: hers })).json).toEqual({ items: [] });
  expect((await ben("POST", "/store/namespaces", {})).json).toEqual({ namespaces: [] });
  expect((await put(ben, "one", { text: "ben's" }, hers)).status).toBe(403);
  expect((await put(ben, "new", { text: "ben's" }, hers)).status).toBe(403);
  expect((await ben("DELETE", "/store/items", { namespace: ["ben", "notes"], key: "none" })).status).toBe(204);
  for (const key of ["one", "none"]) {
    expect((await ben("DELETE", "/store/items", { namespace: hers, key })).status).toBe(403);
  }
  expect((await anna("GET", "/store/items?namespace=anna.notes&key=one")).json.value).toEqual({ text: "anna's" });
  callbacks["store"] = before;
  expect((await put(anna, "forbidden", {})).status).toBe(403);
  expect((await anna("DELETE", "/store/items", { namespace: ["notes"], key: "one" })).status).toBe(204);
  expect((await anna("POST", "/store/items/search", {})).json).toEqual({ items: [] });
});

test("filters by containment, by several keys, and by values that are not text", async () => {
  const { callbacks } = agent.deps.access.handlers!;
  const before = callbacks["threads:read"];
  const { json: thread } = await admin("POST", "/threads", {
    metadata: { members: ["anna", "ben"], level: 3, open: true, note: "anna" },
  });
  const readStatus = async (filter: object) => {
    callbacks["threads:read"] = () => filter;
    return (await anna("GET", `/threads/${thread.thread_id}`)).status;
  };
  expect(await readStatus({ members: { $contains: "anna" } })).toBe(200);
  expect(await readStatus({ members: { $contains: ["ben", "anna"] } })).toBe(200);
  expect(await readStatus({ members: { $contains: ["anna", "carl"] } })).toBe(404);
  expect(await readStatus({ note: { $contains: "anna" } })).toBe(404);
  expect(await readStatus({ members: "anna" })).toBe(404);
  expect(await readStatus({ level: 3, open: true })).toBe(200);
  expect(await readStatus({ level: "3" })).toBe(404);
  expect(await readStatus({ level: 3, missing: "x" })).toBe(404);
  expect(await readStatus({ level: { $gt: 1 } })).toBe(500);
  expect(await readStatus([])).toBe(500);
  if (before) callbacks["threads:read"] = before;
  else delete callbacks["threads:read"];
});

test("admits Studio's user with one of the server's keys where the operator allows it", async () => {
  const keyed = {
    ...openGuard,
    authenticator: {
      authenticate(credentials: Credentials) {
        if (credentials.headers.get("x-api-key") !== "good") throw unauthorized("Unauthorized");
        return openGuard.authenticator.authenticate(credentials);
      },
    },
  };
  const settings = { ...agent.deps.settings, studioAuth: true };
  const studio = createCaller(createAgentApp({ ...agent.deps, settings }, keyed));
  const scheme = { "x-auth-scheme": "langsmith" };
  expect((await studio("POST", "/threads/search", {}, scheme)).status).toBe(401);
  const created = await studio("POST", "/threads", {}, { ...scheme, "x-api-key": "good" });
  expect(created.json.metadata).toEqual({ owner: "langgraph-studio-user" });
});
