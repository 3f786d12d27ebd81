import { expect, test } from "vitest";

import { readOptions } from "../../base/config/options.ts";
import type { Project } from "../project/read-project.ts";
import { langgraphJson } from "../project/schema.ts";
import { agentOptions } from "../settings.ts";
import { readWebhookRules } from "../project/webhook-config.ts";
import { hostEnvironment } from "./host-environment.ts";
import { configuredDestination, isTracingDisabled } from "./tracing.ts";

const project = (env: Record<string, string> = {}): Project => ({
  dir: "/p",
  configFile: "/p/langgraph.json",
  graphs: {},
  isolated: new Set(),
  env,
  imported: new Set(),
  config: langgraphJson.parse({ graphs: {} }),
  webhooks: readWebhookRules(null, false, {}),
  warnings: [],
});
const settings = (env: Record<string, string> = {}) => readOptions(agentOptions, env);

test("LangChain's switch disables tracing, in the server's environment or else in the project's", () => {
  expect(isTracingDisabled(settings(), project())).toBe(false);
  expect(isTracingDisabled(settings(), project({ LANGSMITH_TRACING: "false" }))).toBe(true);
  expect(isTracingDisabled(settings(), project({ LANGCHAIN_TRACING_V2: "False" }))).toBe(true);
  expect(isTracingDisabled(settings({ LANGSMITH_TRACING: "false" }), project())).toBe(true);
  expect(isTracingDisabled(settings({ LANGSMITH_TRACING: "true" }), project({ LANGSMITH_TRACING: "false" }))).toBe(
    false,
  );
  expect(isTracingDisabled(settings(), project({ LANGSMITH_TRACING: "true" }))).toBe(false);
});

test("uses the operator's platform, and hides its key from the graphs' environment", () => {
  expect(configuredDestination(settings())).toBeUndefined();
  const env = { HEDDLE_TRACING_URL: "https://traces.example/api/", HEDDLE_TRACING_KEY: "secret" };
  expect(configuredDestination(settings(env))).toEqual({
    state: "on",
    url: "https://traces.example/api",
    key: "secret",
  });
  expect(Object.values(hostEnvironment({}, env))).not.toContain("secret");
});
