import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { afterEach, expect, test, vi } from "vitest";

import { warmUp } from "./warm-up.ts";

const deps = { store: new InMemoryStore(), langgraphVersion: "0" };

afterEach(() => void vi.unstubAllEnvs());

test("rehearses runs until there is real work", async () => {
  let calls = 0;
  await warmUp(deps, () => ++calls > 3);
  expect(calls).toBe(4);
});

test("stops by itself without real work", async () => {
  let calls = 0;
  await warmUp(deps, () => ++calls > 1_000_000);
  expect(calls).toBe(100);
});

test("rehearses nothing where the environment enables tracing", async () => {
  vi.stubEnv("LANGSMITH_TRACING", "true");
  let calls = 0;
  await warmUp(deps, () => ++calls > 0);
  expect(calls).toBe(0);
});
