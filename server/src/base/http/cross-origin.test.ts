import { Hono } from "hono";
import { expect, test } from "vitest";

import { readOptions } from "../config/options.ts";
import { allowOrigins, crossOriginOptions, originRule, type OriginRuleOptions } from "./cross-origin.ts";

const rule = (env: Record<string, string>, options: Partial<OriginRuleOptions> = {}) =>
  originRule({ ...readOptions(crossOriginOptions, env), keyless: true, allowLoopback: false, ...options });

const ask = async (allows: (origin: string) => boolean, origin: string, preflight = false) => {
  const app = new Hono();
  app.use(allowOrigins(allows));
  app.post("/", (c) => c.text(""));
  const headers = { origin, ...(preflight && { "access-control-request-method": "POST" }) };
  const response = await app.request("/", { method: preflight ? "OPTIONS" : "POST", headers });
  expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  return response.headers.get("access-control-allow-origin");
};

test("allows only named origins, and never cookies", async () => {
  expect(await ask(rule({}), "https://app.example")).toBeNull();
  const named = rule({ HEDDLE_CORS_ORIGINS: "https://app.example, http://localhost:3000" });
  for (const preflight of [false, true]) {
    expect(await ask(named, "https://app.example", preflight)).toBe("https://app.example");
    expect(await ask(named, "http://localhost:3000", preflight)).toBe("http://localhost:3000");
    expect(await ask(named, "https://evil.example", preflight)).toBeNull();
    expect(await ask(named, "null", preflight)).toBeNull();
  }
});

test("allows loopback origins where configured, and * only where keys are needed", () => {
  const local = rule({}, { allowLoopback: true });
  for (const origin of ["http://localhost:5173", "http://127.0.0.1:3000", "https://[::1]:3000", "http://a.localhost"]) {
    expect([origin, local(origin)]).toEqual([origin, true]);
  }
  for (const origin of [
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "null",
    "file://",
    "http://10.0.0.7",
  ]) {
    expect([origin, local(origin)]).toEqual([origin, false]);
  }
  const all = { HEDDLE_CORS_ORIGINS: "*" };
  expect(rule(all)("https://app.example")).toBe(false);
  expect(rule(all, { keyless: false })("https://app.example")).toBe(true);
  expect(rule({}, { corsRules: { origins: ["*"] } })("https://app.example")).toBe(false);
  expect(rule({}, { corsRules: { pattern: /^https:\/\/\w+\.example$/ } })("https://app.example")).toBe(true);
});

test("rejects an invalid origin at the start", () => {
  for (const bad of ["app.example", "https://app.example/", "https://app.example/path"]) {
    expect(() => readOptions(crossOriginOptions, { HEDDLE_CORS_ORIGINS: bad })).toThrow("HEDDLE_CORS_ORIGINS");
  }
});

test("keeps responses as the handler made them, and exposes the readable headers", async () => {
  for (const keepsEarlyHeaders of [false, true]) {
    const app = new Hono();
    app.use(allowOrigins(() => true, {}, undefined, keepsEarlyHeaders));
    app.get("/json", (c) => {
      c.header("Set-Cookie", "a=1", { append: true });
      c.header("Set-Cookie", "b=2", { append: true });
      return c.json({ ok: true }, 201);
    });
    app.get("/raw", () => new Response("text", { status: 202, headers: { "X-Own": "own" } }));
    app.get("/frozen", () => fetch("data:text/plain,frozen"));
    app.get("/none", (c) => c.body(null, 204));
    app.get("/fails", () => {
      throw new Error("no");
    });
    app.onError((_, c) => c.text("failed", 500));
    const get = async (path: string) => {
      const response = await app.request(path, { headers: { origin: "https://app.example" } });
      expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
      expect(response.headers.get("access-control-expose-headers")).toMatch(/content-location,idempotent-replayed,/);
      return { status: response.status, text: await response.text(), headers: response.headers };
    };
    const json = await get("/json");
    expect([json.status, json.text, json.headers.getSetCookie()]).toEqual([201, '{"ok":true}', ["a=1", "b=2"]]);
    expect(json.headers.get("content-type")).toBe("application/json");
    const raw = await get("/raw");
    expect([raw.status, raw.text, raw.headers.get("x-own")]).toEqual([202, "text", "own"]);
    expect(await get("/frozen")).toMatchObject({ status: 200, text: "frozen" });
    expect(await get("/none")).toMatchObject({ status: 204, text: "" });
    expect(await get("/fails")).toMatchObject({ status: 500, text: "failed" });
    expect((await get("/nowhere")).status).toBe(404);
  }
});

test("does not allow access from public pages to a private network", async () => {
  const app = new Hono();
  app.use(allowOrigins(() => true));
  const headers = {
    Origin: "https://page.example",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Private-Network": "true",
  };
  const preflight = await app.request("/", { method: "OPTIONS", headers });
  expect(preflight.headers.get("access-control-allow-origin")).toBe("https://page.example");
  expect(preflight.headers.get("access-control-allow-private-network")).toBeNull();
});

test("adds Vary: Origin to a response that depends on the origin", async () => {
  const app = new Hono();
  app.use(allowOrigins((origin) => origin === "https://a.example"));
  app.get("/", (c) => c.text("", 200, { Vary: "Accept" }));
  const response = await app.request("/", { headers: { origin: "https://b.example" } });
  expect(response.headers.get("vary")).toBe("Accept, Origin");
  expect(response.headers.has("access-control-allow-origin")).toBe(false);
});
