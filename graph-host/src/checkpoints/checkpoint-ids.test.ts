import { createRequire } from "node:module";

import { expect, test } from "vitest";

import { CheckpointClock } from "./checkpoint-clock.ts";
import { installCheckpointIds, makesOurIds, replaceInCommonJs } from "./checkpoint-ids.ts";

test("detects a LangGraph whose id module was not replaced", () => {
  installCheckpointIds(() => undefined);
  expect(makesOurIds()).toBe(false);
});

test("a CommonJS copy uses the clock of the current run, or else the process clock", () => {
  let clock: CheckpointClock | undefined;
  replaceInCommonJs();
  installCheckpointIds(() => clock);
  const { emptyCheckpoint } = createRequire(import.meta.url)(
    "@langchain/langgraph-checkpoint",
  ) as typeof import("@langchain/langgraph-checkpoint");
  clock = new CheckpointClock(undefined, () => Date.parse("3000-01-01T00:00:00Z"));
  const future = emptyCheckpoint().id;
  expect(future > clock.nextId(0)).toBe(false);
  expect(clock.nextId(0) > future).toBe(true);
  clock = undefined;
  expect(emptyCheckpoint().id < future).toBe(true);
});
