import { expect, test } from "vitest";

import { readOptions } from "../../base/config/options.ts";
import { agentOptions } from "../settings.ts";
import { feedbackPlatform } from "./platform.ts";

const OFF = { state: "off" } as const;
const platform = (server: Record<string, string>, project: Record<string, string> = {}, traces = OFF) =>
  feedbackPlatform(readOptions(agentOptions, server), { env: project }, traces);

test("whoever gets the traces of runs issues the links", () => {
  const ours = { state: "on", url: "http://ours", key: null } as const;
  const tracing = { LANGSMITH_TRACING: "true", LANGSMITH_ENDPOINT: "https://theirs" };
  expect(platform(tracing, {}, ours as never)).toEqual(ours);
  expect(platform(tracing, {}, { state: "waiting" } as never)).toEqual({ state: "waiting" });
});

test("LangChain's own tracing counts where there is no platform of ours, by environment or project", () => {
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
