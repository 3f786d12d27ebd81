import { expect, test } from "vitest";

import { readOptions } from "../../base/config/options.ts";
import { agentOptions } from "../settings.ts";
import { feedbackPlatform } from "./platform.ts";

const OFF = { state: "off" } as const;
const platform = (server: Record<string, string>, project: Record<string, string> = {}, traces = OFF) =>
  feedbackPlatform(readOptions(agentOptions, server), { env: project }, traces);

test("the platform that receives the traces issues the links", () => {
  const ours = { state: "on", url: "http://ours", key: null } as const;
  const tracing = { LANGSMITH_TRACING: "true", LANGSMITH_ENDPOINT: "https://theirs" };
  expect(platform(tracing, {}, ours as never)).toEqual(ours);
  expect(platform(tracing, {}, { state: "waiting" } as never)).toEqual({ state: "waiting" });
});

test("uses LangChain's own tracing settings, of environment or project, without a platform of Heddle", () => {
  expect(platform({})).toEqual(OFF);
  expect(platform({ LANGSMITH_ENDPOINT: "https://theirs", LANGSMITH_API_KEY: "k" })).toEqual(OFF);
  expect(platform({ LANGSMITH_TRACING: "false" })).toEqual(OFF);
  expect(
    platform({ LANGSMITH_TRACING: "true", LANGSMITH_ENDPOINT: "https://theirs/", LANGSMITH_API_KEY: "k" }),
  ).toEqual({
    state: "on",
    url: "https://theirs",
    key: "k",
  });
  expect(platform({}, { LANGCHAIN_TRACING_V2: "True", LANGCHAIN_API_KEY: "k" })).toEqual({
    state: "on",
    url: "https://api.smith.langchain.com",
    key: "k",
  });
});
