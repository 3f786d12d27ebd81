import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { afterEach, expect, test, vi } from "vitest";

import { warmUp } from "./warm-up.ts";

const deps = { store: new InMemoryStore(), langgraphVersion: "0" };

afterEach(() => void vi.unstubAllEnvs());

test("rehearses runs until there is real work", async () => {
  let asked = 0;
  await warmUp(deps, () => ++asked > 3);
  expect(asked).toBe(4);
});

test("stops by itself without real work", async () => {
  let asked = 0;
  await warmUp(deps, () => ++asked > 1_000_000);
  expect(asked).toBe(100);
});

test("rehearses nothing where the environment enables tracing", async () => {
  vi.stubEnv("LANGSMITH_TRACING", "true");
  let asked = 0;
  await warmUp(deps, () => ++asked > 0);
  expect(asked).toBe(0);
});
