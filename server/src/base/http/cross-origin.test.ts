import { Hono } from "hono";
import { expect, test } from "vitest";

import { readOptions } from "../config/options.ts";
import { allowOrigins, crossOriginOptions } from "./cross-origin.ts";

const ask = async (env: Record<string, string>, origin: string, preflight = false) => {
  const app = new Hono();
  app.use(allowOrigins(readOptions(crossOriginOptions, env)));
  app.post("/", (c) => c.text(""));
  const headers = { origin, ...(preflight && { "access-control-request-method": "POST" }) };
  const answer = await app.request("/", { method: preflight ? "OPTIONS" : "POST", headers });
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  return answer.headers.get("access-control-allow-origin");
};

test("every origin may call unless some are named; cookies are never allowed", async () => {
  expect(await ask({}, "https://app.example")).toBe("*");
  const env = { HEDDLE_CORS_ORIGINS: "https://app.example, http://localhost:3000" };
  for (const preflight of [false, true]) {
    expect(await ask(env, "https://app.example", preflight)).toBe("https://app.example");
    expect(await ask(env, "http://localhost:3000", preflight)).toBe("http://localhost:3000");
    expect(await ask(env, "https://evil.example", preflight)).toBeNull();
    expect(await ask(env, "null", preflight)).toBeNull();
  }
});

test("what is no origin is refused at the start", () => {
  for (const bad of ["app.example", "https://app.example/", "https://app.example/path"]) {
    expect(() => readOptions(crossOriginOptions, { HEDDLE_CORS_ORIGINS: bad })).toThrow("HEDDLE_CORS_ORIGINS");
  }
});
