import { Hono } from "hono";
import { cors } from "hono/cors";
import { expect, test } from "vitest";

import { testPrincipal } from "../../../test/principal.ts";
import type { Authenticator, Credentials, Principal } from "../../base/auth/principal.ts";
import { readOptions } from "../../base/config/options.ts";
import { AppError, unauthorized } from "../../base/errors.ts";
import { clientIpOptions, findClientIp } from "../../base/http/client-ip.ts";
import { createLog } from "../../base/log.ts";
import { CSRF_HEADER } from "../../identity/sign-in/session-cookie.ts";
import { limitRequests } from "./limit-requests.ts";
import { RateLimits } from "./rate-limits.ts";
import { rateLimitOptions } from "./settings.ts";

const UUID = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000";

/** Accepts keys that begin with "good" and sessions that begin with "session of "; records its calls. */
class Door implements Authenticator {
  asked: Credentials[] = [];
  isUnavailable = false;
  revoked = "";
  readonly #isOpen: boolean;

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen;
  }

  async authenticate(credentials: Credentials): Promise<Principal> {
    this.asked.push(credentials);
    await Promise.resolve();
    if (this.isUnavailable) throw new AppError(503, "no database");
    const principal = testPrincipal();
    const { headers } = credentials;
    const bearer = headers.get("authorization")?.slice("Bearer ".length);
    const key = headers.get("x-api-key") ?? bearer;
    const isWhole = headers.get("cookie") === "heddle_session=half" && headers.get(CSRF_HEADER) === "other half";
    if (isWhole) return { ...principal, actor: { kind: "session", id: "2", name: "", userId: "bob" } };
    if (key?.startsWith("session of ")) {
      return { ...principal, actor: { kind: "session", id: "1", name: "", userId: key.slice(11) } };
    }
    if (key?.startsWith("good") && key !== this.revoked)
      return { ...principal, actor: { kind: "api_key", id: key, name: "", userId: null } };
    if (this.#isOpen) return principal;
    throw unauthorized("Unauthorized");
  }
}

async function limited(env: Record<string, string> = {}, isOpen = false) {
  const clock = { now: 0 };
  const door = new Door(isOpen);
  const log = createLog("silent");
  const limits = await RateLimits.start({
    settings: readOptions(rateLimitOptions, { HEDDLE_RATE_LIMITS: "on", ...env }),
    log,
    isDevelopment: false,
    now: () => clock.now,
  });
  const app = new Hono();
  app.use(findClientIp(readOptions(clientIpOptions, { HEDDLE_TRUSTED_PROXIES: "10.0.0.1" })));
  const { preflights, requests } = limitRequests(limits, door, log);
  app.use(preflights, cors({ origin: "*" }), requests);
  app.get("/repos", (c) => Response.json({ here: c.req.path }));
  app.get("/broken", () => {
    throw new Error("broken");
  });
  app.onError((error) => Response.json({ detail: error.message }, { status: 500 }));

  const send = async (request: string, headers: Record<string, string> = {}, ip = "203.0.113.1") => {
    const [method, path] = request.split(" ") as [string, string];
    const incoming = { socket: { remoteAddress: ip, remotePort: 1, remoteFamily: "IPv4" } };
    return app.request(path, { method, headers }, { incoming });
  };
  /** Sends `count` requests sequentially and returns the number of responses by status. */
  const flood = async (count: number, request: string, headers: (n: number) => Record<string, string> = () => ({})) => {
    const counts: Record<number, number> = {};
    for (let n = 0; n < count; n++) {
      const { status } = await send(request, headers(n));
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  };
  return { limits, clock, door, send, flood };
}
const key = (text = "good-key") => ({ "x-api-key": text });

test("an allowed response reports the state of its rows, also for an unknown path and a failure", async () => {
  const { send } = await limited();
  const response = await send("GET /repos", key());
  expect(await response.json()).toEqual({ here: "/repos" });
  expect(response.headers.get("ratelimit-policy")).toBe('"repos.key";q=100;w=60');
  expect(response.headers.get("ratelimit")).toBe('"repos.key";r=99;t=60');
  const both = await send("POST /runs/query", { ...key(), "x-user-id": "ada" });
  expect(both.status).toBe(404);
  expect(both.headers.get("ratelimit-policy")).toBe('"runs-query.key";q=15;w=10, "runs-query.user";q=300;w=10');
  const broken = await send("GET /broken", key());
  expect([broken.status, broken.headers.get("ratelimit")]).toEqual([500, '"default.key";r=999;t=10']);
});

test("a rejection names the row and when to retry, and then the window is new", async () => {
  const { send, flood, clock } = await limited();
  expect(await flood(16, "POST /runs/query", () => key())).toEqual({ 404: 15, 429: 1 });
  clock.now += 8400;
  const rejected = await send("POST /runs/query", key());
  expect(rejected.headers.get("retry-after")).toBe("2");
  expect(rejected.headers.get("ratelimit")).toBe('"runs-query.key";r=0;t=2');
  expect(rejected.headers.get("access-control-allow-origin")).toBe("*");
  expect(((await rejected.json()) as { detail: string }).detail).toContain('"runs-query.key" (Run query (API))');
  clock.now += 1599.5;
  expect((await send("POST /runs/query", key())).headers.get("retry-after")).toBe("1");
  clock.now += 0.5;
  expect((await send("POST /runs/query", key())).status).toBe(404);
});

test("rejections have the shape of errors of their route", async () => {
  const configuration = '{"public":"1/60"}';
  const shapes: [string, string, string[]][] = [
    ["POST /api/v1/runs/batch", "application/json", ["error"]],
    [`PATCH /runs/${UUID}`, "application/json", ["error"]],
    ["POST /otel/v1/traces", "application/json", ["error"]],
    ["GET /v1/platform/datasets", "application/json", ["error"]],
    ["GET /api/v1/sessions", "application/json", ["detail"]],
    [
      "POST /api/v2/runs/query",
      "application/problem+json",
      ["detail", "instance", "status", "title", "type", "violated-policies"],
    ],
  ];
  for (const [request, type, fields] of shapes) {
    const { send } = await limited({ HEDDLE_RATE_LIMITS_OVERRIDES: configuration });
    await send(request);
    const rejected = await send(request);
    expect([request, rejected.status, rejected.headers.get("content-type")]).toEqual([request, 429, type]);
    const body = (await rejected.json()) as Record<string, unknown>;
    expect(Object.keys(body).toSorted()).toEqual(fields);
    expect(JSON.stringify(body)).toContain("public");
  }
});

test("of a thousand concurrent requests as many pass as the row allows", async () => {
  const { send, door } = await limited();
  const all = await Promise.all(Array.from({ length: 1000 }, () => send("GET /repos", key())));
  expect(all.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(door.asked).toHaveLength(1);
});

test("aliases and spellings share a bucket", async () => {
  const { send } = await limited();
  const paths = [
    "/repos",
    "/repos/",
    "/api/v1/repos",
    "/v1/repos/x",
    "//repos",
    "/REPOS",
    "/%72epos",
    "/repos?x=/info",
  ];
  const statuses: number[] = [];
  for (let n = 0; n < 104; n++) statuses.push((await send(`GET ${paths[n % paths.length]}`, key())).status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  expect(statuses.slice(0, 100)).not.toContain(429);
});

test("a valid key does not use its address's limit, and is not affected by it", async () => {
  const { flood, send, limits } = await limited();
  expect(await flood(5, "GET /sessions", (n) => key(`good ${n}`))).toEqual({ 404: 5 });
  expect(await limits.readUses({ ip: "203.0.113.1" })).toContainEqual(
    expect.objectContaining({ row: "public", used: 0, remaining: 100 }),
  );
  expect(await flood(101, "GET /sessions")).toEqual({ 404: 100, 429: 1 });
  expect((await send("GET /sessions", key("good 1"))).status).toBe(404);
});

test("unknown keys count for their address, which also limits how often keys are verified", async () => {
  const { flood, door, limits } = await limited();
  expect(await flood(300, "GET /sessions", (n) => key(`made up ${n}`))).toEqual({ 404: 100, 429: 200 });
  expect(door.asked).toHaveLength(100);
  expect(limits.local.size).toBe(1);
});

test("unknown users without a key, and invalid keys with a workspace, count for their address", async () => {
  const { flood, door } = await limited();
  expect(await flood(60, "GET /sessions", (n) => ({ "x-user-id": `user ${n}` }))).toEqual({ 404: 60 });
  expect(await flood(60, "GET /x", (n) => ({ ...key(`bad ${n}`), "x-tenant-id": "x" }))).toEqual({ 404: 40, 429: 20 });
  expect(door.asked.every(({ headers }) => !headers.has("x-tenant-id"))).toBe(true);
});

test("a key that names a user also counts in its own bucket", async () => {
  const { flood } = await limited();
  const headers = (n: number) => ({ ...key(), "x-user-id": `user ${n}` });
  expect(await flood(20, "POST /runs/query", headers)).toEqual({ 404: 15, 429: 5 });
});

test("a session counts for its own user, whatever the header names", async () => {
  const { flood } = await limited({ HEDDLE_RATE_LIMITS_OVERRIDES: '{"default.user":"10/10"}' });
  const session = (n: number) => ({ Authorization: "Bearer session of ada", "x-user-id": `user ${n}` });
  expect(await flood(15, "GET /sessions", session)).toEqual({ 404: 10, 429: 5 });
});

test("a browser session counts for its user with both its cookie and its CSRF token, and for its address otherwise", async () => {
  const { flood, door } = await limited();
  const session = { cookie: "heddle_session=half", [CSRF_HEADER]: "other half" };
  expect(await flood(150, "GET /sessions", () => session)).toEqual({ 404: 150 });
  expect(door.asked).toHaveLength(1);
  const forged = (n: number) => ({ cookie: "heddle_session=half", ...(n % 2 ? { [CSRF_HEADER]: `guess ${n}` } : {}) });
  expect(await flood(150, "GET /sessions", forged)).toEqual({ 404: 100, 429: 50 });
});

test("a key is the same in either header", async () => {
  const { flood } = await limited();
  const either = (n: number): Record<string, string> => (n % 2 ? key() : { Authorization: "Bearer good-key" });
  expect(await flood(20, "POST /runs/query", either)).toEqual({ 404: 15, 429: 5 });
});

test("without required keys the header names the user, and any key counts as a key", async () => {
  const { flood } = await limited({}, true);
  expect(await flood(301, "POST /runs/query", () => ({ "x-user-id": "ada" }))).toEqual({ 404: 300, 429: 1 });
  expect(await flood(20, "POST /runs/query", () => key("whatever"))).toEqual({ 404: 15, 429: 5 });
});

test("a key is verified again after a minute, and counts for its address when no longer valid", async () => {
  const { send, door, clock, flood } = await limited();
  await send("GET /x", key());
  await send("GET /x", key());
  expect(door.asked).toHaveLength(1);
  clock.now += 60_000;
  expect(await flood(100, "GET /y")).toEqual({ 404: 100 });
  // its address has no units left, and it needs none
  expect((await send("GET /x", key())).status).toBe(404);
  expect(door.asked).toHaveLength(2);
  door.revoked = "good-key";
  expect((await send("GET /x", key())).status).toBe(404);
  clock.now += 60_000;
  expect(await flood(101, "GET /x", () => key())).toEqual({ 404: 100, 429: 1 });
});

test("while keys cannot be verified, known keys keep their buckets and others count for their address", async () => {
  const { door, clock, flood } = await limited();
  await flood(1, "GET /x", () => key());
  door.isUnavailable = true;
  clock.now += 60_000;
  expect(await flood(200, "GET /x", () => key())).toEqual({ 404: 200 });
  expect(await flood(101, "GET /x", () => key("good, but new"))).toEqual({ 404: 100, 429: 1 });
});

test("counts the client's address behind proxies, and IPv6 by /64", async () => {
  const { send } = await limited({ HEDDLE_RATE_LIMITS_OVERRIDES: '{"public":"2/60"}' });
  const from = async (address: string) => (await send("GET /x", { "X-Forwarded-For": address }, "10.0.0.1")).status;
  expect([await from("192.0.2.1"), await from("1.1.1.1, 192.0.2.1"), await from("192.0.2.1")]).toEqual([404, 404, 429]);
  expect(await from("192.0.2.2")).toBe(404);
  expect([await from("2001:db8::1"), await from("2001:db8::2"), await from("2001:db8::3")]).toEqual([404, 404, 429]);
  expect(await from("2001:db8:0:1::1")).toBe(404);
});

test("preflights count for their address, separately from other requests", async () => {
  const { send, limits } = await limited({ HEDDLE_RATE_LIMITS_OVERRIDES: '{"options":"2/10"}' });
  const preflight = () => send("OPTIONS /repos", { Origin: "https://a.test", "Access-Control-Request-Method": "GET" });
  const statuses = [await preflight(), await preflight(), await preflight()].map(({ status }) => status);
  expect(statuses).toEqual([204, 204, 429]);
  expect((await limits.readUses({ ip: "203.0.113.1" })).find(({ row }) => row === "public")!.used).toBe(0);
});

test("a dry run rejects nothing and reports what it would reject", async () => {
  const { flood, send, limits } = await limited({ HEDDLE_RATE_LIMITS: "dry-run" });
  expect(await flood(120, "GET /repos", () => key())).toEqual({ 200: 120 });
  const response = await send("GET /repos", key());
  expect(response.headers.get("x-heddle-rate-limit-dry-run")).toBe("repos.key");
  expect(response.headers.get("ratelimit")).toBe('"repos.key";r=0;t=60');
  expect(await flood(120, "GET /repos", (n) => key(`made up ${n}`))).toEqual({ 200: 120 });
  const counts = limits.report().filter(({ rejected }) => rejected > 0);
  expect(counts.map(({ row, allowed, rejected }) => [row, allowed, rejected])).toEqual([
    ["repos.key", 100, 21],
    ["public", 100, 20],
  ]);
});

test("stores no key and no user in plain text", async () => {
  const { send, limits } = await limited();
  await send("GET /x", { ...key("good secret"), "x-user-id": "ada@example.com" });
  const { inspect } = await import("node:util");
  const everything = inspect(limits, { depth: 20, showHidden: true, maxArrayLength: null });
  expect(everything).toContain("default.user");
  expect(everything).not.toMatch(/good secret|ada@example/);
});
