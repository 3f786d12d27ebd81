import type { AddressInfo } from "node:net";

import { serve } from "@hono/node-server";
import { afterAll, afterEach, expect, test, vi } from "vitest";

import { createTraceApp } from "../../../server/src/trace-app.ts";
import { modelServer } from "../../../server/test/model-server.ts";
import { openGuard } from "../../../server/test/principal.ts";
import { testTracePlatform } from "../../../server/test/trace-platform.ts";
import { run } from "./evaluators.ts";

const provider = await modelServer();
const { call, platform } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
const server = serve({ fetch: createTraceApp(platform.deps, openGuard).fetch, port: 0, hostname: "127.0.0.1" });
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => new Promise((resolve) => server.close(resolve)));
afterEach(() => {
  process.exitCode = undefined;
});

async function evaluators(...args: string[]): Promise<string> {
  const printed: string[] = [];
  const writing = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => printed.push(String(chunk)) > 0);
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    await run([...args, "--url", url]);
  } finally {
    writing.mockRestore();
    errors.mockRestore();
  }
  return printed.join("");
}

test("measures judges of the library by a model and prints a table", async () => {
  await call("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
  const base = { name: "fake", provider: "openai", settings: { base_url: `${provider.url}/v1` } };
  await call("POST", "/models/connections", { ...base, default_model: "m" });
  expect(await evaluators("library")).toMatch(/toxicity +llm +run +toxicity +10/);
  expect(await evaluators("check", "toxicity", "--connection", "fake")).toMatch(/toxicity +10 +0 +0\.50 +0\.00 +0\.50/);
  expect(process.exitCode).toBeUndefined();
  await evaluators("check", "toxicity", "--connection", "fake", "--min-accuracy", "0.9");
  expect(process.exitCode).toBe(1);
  await call("POST", "/v1/platform/evaluators/from-library", { library_id: "exact-match" });
  expect(await evaluators("list")).toMatch(/Exact match +code +run +1/);
  await expect(evaluators("check", "nothing", "--connection", "fake")).rejects.toThrow('no judge "nothing"');
  await expect(evaluators("check", "--connection", "other")).rejects.toThrow('no model connection "other"');
  await expect(evaluators("check")).rejects.toThrow("needs --connection");
});
