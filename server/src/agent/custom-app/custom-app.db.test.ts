import { writeFileSync, mkdtempSync, rmSync, cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type Context, Hono } from "hono";
import { expect, test } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { testAgentServer } from "../../../test/agent-server.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";
import { unauthorized } from "../../base/errors.ts";
import type { Guard } from "../../base/http/route.ts";
import { httpSection } from "../project/http-schema.ts";
import type { CustomApp } from "./load-custom-app.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/app-project/langgraph.json", import.meta.url));
const { call, agent } = await testAgentServer({}, PROJECT);
const { deps } = agent;
const HELLO = { assistant_id: "agent", input: { messages: [] } };
const parseReply = (json: { messages: { content: string }[] }) => JSON.parse(json.messages.at(-1)!.content) as object;

/** The same server with another `http` section. */
function withHttp(http: object, guard: Guard = openGuard) {
  const config = { ...deps.project.config, ui: { agent: "./ui.tsx" }, http: httpSection.parse(http) };
  return createCaller(createAgentApp({ ...deps, project: { ...deps.project, config } }, guard));
}

/** Admits callers that send a key. */
const keyed: Guard = {
  ...openGuard,
  authenticator: {
    authenticate(credentials) {
      if (credentials.headers.get("x-api-key") !== "k") throw unauthorized("Who are you?");
      return openGuard.authenticator.authenticate(credentials);
    },
  },
};

test("its middleware wraps Heddle's routes, its routes override them, and other paths reach Heddle", async () => {
  const info = await call("GET", "/info");
  expect([info.status, info.headers.get("x-from-middleware")]).toEqual([200, "yes"]);
  expect(info.json.version).toBeDefined();
  const stopped = await call("GET", "/info?interrupt");
  expect([stopped.status, stopped.text]).toEqual([418, "interrupted"]);
  expect((await call("GET", "/runs/afakeroute")).text).toBe("mine");
  expect((await call("GET", "/nowhere")).text).toBe("404 Not Found");
  expect((await call("POST", "/threads", {})).status).toBe(200);
});

test("its errors and Heddle's errors keep their own responses", async () => {
  const rejected = await call("GET", "/custom/reject");
  expect([rejected.status, rejected.text]).toEqual([400, "not like this"]);
  expect((await call("GET", "/custom/break")).status).toBe(500);
  expect((await call("GET", `/threads/${crypto.randomUUID()}`)).status).toBe(404);
  expect((await call("POST", "/threads/search", { limit: "all" })).status).toBe(422);
});

test("Heddle reads a body as its middleware has changed it", async () => {
  const { json } = await call("POST", "/runs/wait", HELLO);
  expect(parseReply(json)).toMatchObject({ from_middleware: "changed" });
});

test("a client without a URL reaches this server without a network request", async () => {
  expect((await call("GET", "/custom/threads")).json).toEqual({ made: { made_by: "the app" }, found: 1 });
});

test("where keys are required, its client without a URL needs none, and a key of its caller still counts", async () => {
  const closed = withHttp({ app: "./app.ts:app" }, keyed);
  expect((await closed("POST", "/threads", {})).status).toBe(401);
  expect((await closed("GET", "/custom/threads")).json).toMatchObject({ made: { made_by: "the app" } });
  const as = (key: string) => closed("GET", `/custom/as/${key}`);
  expect((await as("wrong")).text).toBe("401");
  expect((await as("k")).text).toBe("200");
  // the SDK sends the environment's key, which is another platform's
  process.env["LANGSMITH_API_KEY"] = "wrong";
  try {
    expect((await as("wrong")).text).toBe("200");
  } finally {
    delete process.env["LANGSMITH_API_KEY"];
  }
  // a relative webhook is requested by the creator of a run, so it has no authority
  const answer = await deps.loopback.answer(new Request("http://localhost/threads", { method: "POST", body: "{}" }));
  expect(answer.status).toBe(401);
});

test("passes streams on without buffering", async () => {
  const response = await createAgentApp(deps, openGuard).request("/custom/stream");
  const reader = response.body!.getReader();
  const next = async () => Buffer.from((await reader.read()).value!).toString();
  expect(await next()).toContain("first");
  // the second part is not written before this request
  await call("POST", "/custom/stream/on");
  expect(await next()).toContain("second");
  await reader.cancel();
});

test("enable_custom_route_auth authenticates requests to its endpoints, not to its middleware", async () => {
  const app = "./app.ts:app";
  const open = withHttp({ app }, keyed);
  expect((await open("GET", "/custom/me")).json).toEqual({ user: null });
  expect((await open("GET", "/custom/mounted/x")).text).toBe("inside");
  expect((await open("GET", "/custom/part/x")).text).toBe("part");
  const closed = withHttp({ app, enable_custom_route_auth: true }, keyed);
  expect((await closed("GET", "/custom/me")).status).toBe(401);
  for (const path of ["/custom/mounted/x", "/custom/part/x"]) expect((await closed("GET", path)).status).toBe(401);
  expect((await closed("GET", "/custom/mounted/x", undefined, { "x-api-key": "k" })).text).toBe("inside");
  expect((await closed("GET", "/runs/afakeroute")).status).toBe(401);
  expect((await closed("GET", "/custom/me", undefined, { "x-api-key": "k" })).json).toEqual({ user: "local" });
  expect((await closed("GET", "/info")).status).toBe(200);
});

/** An app whose handlers record that they ran. */
function recordingApp(ran: string[]) {
  const run = (name: string) => (c: Context) => c.text(`secret ${ran.push(name) && name}`);
  const app = new Hono();
  app.use(async (c, next) => (c.req.query("interrupt") === undefined ? next() : c.text("interrupted", 418)));
  app.get("/admin/export", run("export"));
  app.get("/admin/:id{[0-9]+}/delete", run("delete"));
  app.get("/files/*", run("files"));
  app.on("BREW", "/coffee", run("coffee"));
  app.get("/info", run("info"));
  // an endpoint that is registered like middleware
  app.all("/wild/*", async (c, next) => (c.req.path === "/wild/none" ? next() : run("wild")(c)));
  app.use("/named", async (c, next) => (c.req.path === "/none" ? next() : run("named")(c)));
  app.mount("/mounted", (request) => new Response(`secret ${ran.push("mounted") && request.url}`), {
    replaceRequest: (request) => request,
  });
  const part = new Hono().basePath("/part").get("/one", run("part"));
  part.onError((_, c) => c.text("of the part", 500));
  app.route("/", part);
  app.route("/nested", new Hono().get("/:x?", run("nested")));
  return app;
}

const GUARDED = [
  ...["/admin/export", "/admin/7/delete", "/files/a", "/wild/a", "/named", "/mounted/a", "/part/one", "/nested/a"],
  ...["/nested", "/info"],
];

test("no handler of the app runs without authentication, however the path is written", async () => {
  const ran: string[] = [];
  const config = { ...deps.project.config, http: httpSection.parse({ enable_custom_route_auth: true }) };
  const project = { ...deps.project, config };
  const guarded = createCaller(createAgentApp({ ...deps, project, customApp: recordingApp(ran) as CustomApp }, keyed));
  const ends = ["", "/", "//", "/.", "/x/..", "%0A", "%00", "%2F", "?x", ";x", "%20", "%FF", "/%2e%2e/export"];
  const written = (path: string) => [
    ...ends.map((end) => path + end),
    ...[`/x/..${path}`, `/${path}`, path.replace("a", "%61"), path.replace("a", "%2561"), path.toUpperCase()],
  ];
  for (const path of GUARDED) {
    for (const spelling of written(path)) {
      for (const method of ["GET", "HEAD", "POST", "OPTIONS", "BREW"]) {
        const answer = await guarded(method, spelling);
        expect([method, spelling, ran]).toEqual([method, spelling, []]);
        const statuses = method === "OPTIONS" ? [204, 400] : [400, 401, 404];
        expect([method, spelling, answer.status]).toEqual([method, spelling, expect.toBeOneOf(statuses)]);
      }
    }
  }
  expect((await guarded("GET", "/nowhere")).status).toBe(401);
  expect((await guarded("GET", "/ok")).json).toEqual({ ok: true });
  // its middleware wraps the server's routes, and no others
  expect((await guarded("GET", "/ok?interrupt")).status).toBe(418);
  expect((await guarded("GET", "/nowhere?interrupt")).status).toBe(401);
  const key = { "x-api-key": "k" };
  for (const path of GUARDED) {
    const answer = await guarded("GET", path, undefined, key);
    expect([path, answer.status, answer.text]).toEqual([path, 200, expect.stringContaining("secret")]);
  }
  expect((await guarded("GET", "/nowhere", undefined, key)).text).toBe("404 Not Found");
});

test("middleware_order puts authentication before or after its middleware", async () => {
  const app = "./app.ts:app";
  const first = withHttp({ app }, keyed);
  expect((await first("POST", "/threads?interrupt", {})).status).toBe(418);
  const last = withHttp({ app, middleware_order: "auth_first" }, keyed);
  expect((await last("POST", "/threads?interrupt", {})).status).toBe(401);
  expect((await last("POST", "/threads?interrupt", {}, { "x-api-key": "k" })).status).toBe(418);
  expect((await last("GET", "/info?interrupt")).status).toBe(418);
});

test("mount_prefix moves all routes, and keeps the probes at the root too", async () => {
  const below = withHttp({ mount_prefix: "/team/agents/" });
  expect((await below("GET", "/team/agents/ok")).status).toBe(200);
  for (const probe of ["/ok", "/livez", "/readyz"]) {
    expect([probe, (await below("GET", probe)).status]).toEqual([probe, 200]);
    expect([probe, (await below("GET", `/team/agents${probe}`)).status]).toEqual([probe, 200]);
  }
  expect((await below("GET", "/team/agents/custom/me")).json).toEqual({ user: null });
  expect((await below("POST", "/team/agents/threads", {})).status).toBe(200);
  for (const outside of ["/threads/search", "/info", "/team/agentsx/info", "/team", "/"]) {
    const response = await below(outside === "/threads/search" ? "POST" : "GET", outside);
    expect([outside, response.status, response.headers.get("x-from-middleware")]).toEqual([outside, 404, null]);
  }
  const { servers } = (await below("GET", "/team/agents/openapi.json")).json;
  expect(servers).toEqual([{ url: "/team/agents" }]);
  const shown = await below("GET", "/team/agents/");
  expect(shown.json).toMatchObject({ docs: "/team/agents/docs", openapi: "/team/agents/openapi.json" });
  const page = await below("GET", "/team/agents/", undefined, { accept: "text/html" });
  expect([page.status, page.headers.get("location")]).toEqual([302, "/team/agents/docs"]);
});

test.each([
  ["disable_assistants", "POST", "/assistants/search"],
  ["disable_threads", "POST", "/threads/search"],
  ["disable_runs", "POST", "/runs/wait"],
  ["disable_runs", "POST", "/threads/01a1ff3c-0a4b-7000-ad8f-9d19227c1a8f/runs"],
  ["disable_runs", "POST", "/runs/crons/search"],
  ["disable_store", "POST", "/store/items/search"],
  ["disable_meta", "GET", "/info"],
  ["disable_meta", "GET", "/docs"],
  ["disable_meta", "GET", "/metrics"],
  ["disable_meta", "GET", "/openapi.json"],
  ["disable_mcp", "POST", "/mcp"],
  ["disable_a2a", "POST", "/a2a/agent"],
  ["disable_a2a", "GET", "/.well-known/agent-card.json?assistant_id=agent"],
  ["disable_ui", "POST", "/ui/agent"],
  ["disable_webhooks", "GET", "/webhooks/deliveries"],
  ["disable_webhooks", "POST", "/webhooks/deliveries/01a1ff3c-0a4b-7000-ad8f-9d19227c1a8f/replay"],
])("%s disables %s %s", async (flag, method, path) => {
  const body = method === "POST" ? {} : undefined;
  expect((await withHttp({})(method, path, body)).text).not.toBe("404 Not Found");
  const without = withHttp({ [flag]: true });
  const response = await without(method, path, body);
  expect([response.status, response.text]).toEqual([404, "404 Not Found"]);
  expect((await without("GET", "/ok")).status).toBe(200);
  const { json } = await without("GET", "/openapi.json");
  expect(Object.keys((json?.paths ?? {}) as object)).not.toContain(path);
});

test("cors sets origins by list or pattern, methods, headers, credentials, exposed headers and age", async () => {
  const from = (origin: string) => ({ origin, "access-control-request-method": "POST" });
  const listed = withHttp({
    cors: {
      allow_origins: ["https://app.example"],
      allow_methods: ["GET"],
      allow_headers: ["x-one"],
      allow_credentials: true,
      expose_headers: ["X-Mine"],
      max_age: 60,
    },
  });
  const preflight = (await listed("OPTIONS", "/threads", undefined, from("https://app.example"))).headers;
  expect(preflight.get("access-control-allow-origin")).toBe("https://app.example");
  expect(preflight.get("access-control-allow-methods")).toBe("GET");
  expect(preflight.get("access-control-allow-headers")).toBe("x-one");
  expect(preflight.get("access-control-allow-credentials")).toBe("true");
  expect(preflight.get("access-control-max-age")).toBe("60");
  const exposed = (await listed("GET", "/info", undefined, { origin: "https://app.example" })).headers;
  expect(exposed.get("access-control-expose-headers")).toMatch(/content-location.*x-pagination-total.*x-mine/);
  const other = (await listed("GET", "/info", undefined, { origin: "https://other.example" })).headers;
  expect(other.get("access-control-allow-origin")).toBeNull();

  const pattern = withHttp({
    cors: { allow_origins: ["https://app.example"], allow_origin_regex: "https://.*\\.one" },
  });
  for (const [origin, allowed] of [
    ["https://a.one", "https://a.one"],
    ["https://a.one.evil", null],
    ["https://app.example", null],
  ] as const) {
    expect((await pattern("GET", "/info", undefined, { origin })).headers.get("access-control-allow-origin")).toBe(
      allowed,
    );
  }
});

test("configurable_headers selects the headers of a run's configuration, excludes win, and keys never pass", async () => {
  const headers = { "x-api-key": "secret", "x-one": "1", "x-two": "2", "user-agent": "me" };
  const plain = await withHttp({})("POST", "/runs/wait", HELLO, headers);
  expect(parseReply(plain.json)).toMatchObject({ "x-one": "1", "x-two": "2", "user-agent": "me" });
  expect(parseReply(plain.json)).not.toHaveProperty("x-api-key");
  const rules = { includes: ["x-*", "team"], excludes: ["X-Two"] };
  const ruled = await withHttp({ configurable_headers: rules })("POST", "/runs/wait", HELLO, {
    ...headers,
    team: "red",
  });
  expect(parseReply(ruled.json)).toEqual({ "x-one": "1", team: "red", from_middleware: "changed" });
});

test("logging_headers logs each request with the selected headers", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = Object.assign(Object.create(deps.log) as typeof deps.log, {
    info: (line: Record<string, unknown>) => void lines.push(line),
  });
  const http = httpSection.parse({ logging_headers: { includes: ["x-*", "authorization"], excludes: ["x-two"] } });
  const config = { ...deps.project.config, http };
  const logged = createCaller(createAgentApp({ ...deps, log, project: { ...deps.project, config } }, openGuard));
  await logged("GET", "/ok", undefined, { "x-one": "1", "x-two": "2", authorization: "secret", "x-api-key": "secret" });
  expect(lines).toEqual([
    { method: "GET", path: "/ok", status: 200, ms: expect.any(Number), headers: { "x-one": "1" } },
  ]);
});

test(
  "serves a changed app without a restart, and keeps the previous one when the new one is broken",
  { timeout: 30_000 },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "heddle-app-"));
    atEnd(() => rmSync(dir, { recursive: true, force: true }));
    cpSync(fileURLToPath(new URL("../../../../conformance/project/echo.ts", import.meta.url)), join(dir, "echo.ts"));
    const write = (text: string) => writeFileSync(join(dir, "app.ts"), text);
    const hono = import.meta.resolve("hono");
    const serving = (word: string) => `import { Hono } from "${hono}";
    export const app = new Hono().get("/word", (c) => c.text("${word}"));`;
    write(serving("one"));
    writeFileSync(join(dir, "package.json"), `{"type":"module"}`);
    writeFileSync(join(dir, "langgraph.json"), JSON.stringify({ graphs: {}, http: { app: "./app.ts:app" } }));
    const server = await testAgentServer({ HEDDLE_LOG_LEVEL: "silent" }, join(dir, "langgraph.json"), { reload: true });
    const word = async () => (await createCaller(createAgentApp(server.agent.deps, openGuard))("GET", "/word")).text;
    expect(await word()).toBe("one");
    const inProcess = () => (globalThis as Record<symbol, unknown>)[Symbol.for("langgraph_api:url")];
    expect(inProcess()).toBe("http://localhost:8123");
    // repeated until the watcher is ready
    const rewritten = async () => {
      write(serving("two"));
      await new Promise((resolve) => setTimeout(resolve, 700));
      return word();
    };
    await expect.poll(rewritten, { timeout: 30_000 }).toBe("two");
    write("nonsense(");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await word()).toBe("two");

    // changes to langgraph.json's webhooks and prefix take effect at once too
    write(serving("three"));
    const http = { app: "./app.ts:app", mount_prefix: "/team" };
    const webhooks = { url: { require_https: true } };
    writeFileSync(join(dir, "langgraph.json"), JSON.stringify({ graphs: {}, http, webhooks }));
    await expect.poll(() => server.agent.deps.project.webhooks.requireHttps, { timeout: 30_000 }).toBe(true);
    expect(inProcess()).toBe("http://localhost:8123/team");
    const missing = { headers: { "x-a": "${{ env.LG_WEBHOOK_NOT_SET }}" } };
    writeFileSync(join(dir, "langgraph.json"), JSON.stringify({ graphs: {}, webhooks: missing }));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(server.agent.deps.project.webhooks.requireHttps).toBe(true);
    await server.stop();
  },
);
