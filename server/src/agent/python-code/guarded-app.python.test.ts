/** A project's ASGI app whose routes require authentication (`http.enable_custom_route_auth`). */
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";
import WebSocket from "ws";

import { testAgentServer } from "../../../test/agent-server.ts";
import { createCaller } from "../../../test/call.ts";
import { listenAgent } from "../../../test/protocol-client.ts";
import { openGuard } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../../../test/fixtures/python-code/${name}`, import.meta.url));
const python = { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! };
const servers = await Promise.all([
  testAgentServer(python, fixture("guarded.json")),
  testAgentServer(python, fixture("guarded_cors.json")),
]);
const ANNA = { authorization: "Bearer anna" };

/** Paths of the app's routes: as they are, encoded, with what some programs take for their end, and others. */
const ROUTES = [
  ["GET", "/admin/export"],
  ["POST", "/admin/users/7/delete"],
  ["GET", "/slashed/"],
  ["GET", "/runs/wait"],
  ["GET", "/part/one"],
  ["GET", "/sub/deep"],
  ["POST", "/sub/deep"],
  ["GET", "/raw/anything"],
  ["GET", "/plain/a/b"],
  ["GET", "/caf%C3%A9/x"],
] as const;
const spellings = (path: string): string[] => [
  path,
  ...["%0A", "%0D%0A", "%00", "%C2%85", "%E2%80%A8", "/", "//", "/.", "/x/..", "%2F", "?x", ";x", "%20", "%FF"].map(
    (end) => path + end,
  ),
  `/x/..${path}`,
  `/.${path}`,
  `/${path}`,
  `/v1${path}`,
  `/v1${path}%0A`,
  path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  path.replace(/[a-z]/, (letter) => `%25${letter.charCodeAt(0).toString(16)}`),
  path.toUpperCase(),
];

describe.each([
  ["without middleware", servers[0]!],
  ["with middleware", servers[1]!],
] as const)("an app %s", (_, { call, agent }) => {
  const rejected = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const body = method === "POST" ? {} : undefined;
    const answer = await call(method, path, body, headers);
    expect([method, path, answer.text]).toEqual([method, path, expect.not.stringContaining("secret")]);
    const statuses = method === "OPTIONS" ? [400, 204] : [400, 401, 404];
    expect([method, path, answer.status]).toEqual([method, path, expect.toBeOneOf(statuses)]);
    return answer;
  };

  test("rejects its routes to callers without authentication, however their paths are written", async () => {
    for (const [method, path] of ROUTES) {
      expect((await rejected(method, path)).status).toBe(401);
      for (const spelling of spellings(path)) {
        await Promise.all([method, "HEAD", "PUT", "OPTIONS", "BREW"].map((other) => rejected(other, spelling)));
      }
    }
    for (const path of ["/hosted", "/", "/elsewhere"]) {
      const answer = await call("GET", path, undefined, { host: "admin.example" });
      expect(answer.text).not.toContain("secret");
    }
    for (const path of ["/hosted", "/elsewhere"])
      expect((await call("GET", path, undefined, { host: "admin.example" })).status).toBe(401);
    // unknown to the app and to the server: nothing tells which paths the app has
    expect((await call("GET", "/nowhere")).status).toBe(401);
    expect((await call("GET", "/socket")).status).toBe(401);
    // the record of those that were executed
    expect((await call("GET", "/raw/record", undefined, ANNA)).text).toBe("secret");
  });

  test("a WebSocket handshake opens no route either", async () => {
    const http = await listenAgent(servers[0]!);
    for (const path of ["/admin/export", "/socket", "/raw/x", "/part/one"]) {
      const socket = new WebSocket(`${http.url.replace("http", "ws")}${path}`);
      const rejection = new Promise((resolve) => socket.once("error", resolve));
      expect([path, String(await rejection)]).toEqual([path, expect.stringContaining("401")]);
    }
  });

  test("serves its routes to authenticated callers", async () => {
    for (const [method, path] of ROUTES) {
      const answer = await call(method, path, method === "POST" ? {} : undefined, ANNA);
      expect([path, answer.status, answer.text]).toEqual([path, 200, expect.stringContaining("secret")]);
    }
    expect((await call("GET", "/sub/deep", undefined, ANNA)).json).toEqual({ secret: "sub", by: "anna" });
    expect((await call("GET", "/hosted", undefined, { ...ANNA, host: "admin.example" })).json).toMatchObject({
      secret: "hosted",
    });
    expect((await call("GET", "/slashed", undefined, ANNA)).status).toBe(307);
    expect((await call("GET", "/nowhere", undefined, ANNA)).text).toBe("404 Not Found");
    expect((await call("PUT", "/admin/export", undefined, ANNA)).status).toBe(405);
  });

  test("the server's own routes stay as they are", async () => {
    expect((await call("GET", "/ok")).json).toEqual({ ok: true });
    // the app's route of this path is for authenticated callers; others see the server's
    expect((await call("GET", "/info")).json.version).toBeDefined();
    expect((await call("GET", "/info", undefined, ANNA)).json).toEqual({ secret: "info" });
    expect((await call("POST", "/threads/search", {})).status).toBe(401);
    expect((await call("POST", "/threads/search", {}, ANNA)).status).toBe(200);
    // the app has this path for GET only
    const run = await call("POST", "/runs/wait", { assistant_id: "agent", input: { messages: [] } }, ANNA);
    expect([run.status, run.json.messages]).toEqual([200, expect.any(Array)]);
  });

  test("the app is not asked to authenticate for routes of the server", async () => {
    const python = createCaller(createAgentApp(agent.deps, openGuard));
    expect((await python("GET", "/ok", undefined, { authorization: "Bearer broken" })).status).toBe(200);
    expect((await python("GET", "/admin/export", undefined, { authorization: "Bearer broken" })).status).toBe(500);
  });
});

test("middleware sees rejections, and may rewrite paths of authenticated requests", async () => {
  const { call } = servers[1]!;
  const origin = "https://page.example";
  const answer = await call("GET", "/admin/export", undefined, { origin });
  expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([401, origin]);
  expect((await call("GET", "/v1/part/one", undefined, ANNA)).json).toEqual({ secret: "part", by: "anna" });
});
