import { expect, test } from "vitest";

import type { State } from "../threads/queries.ts";
import { branchAt } from "./branches.ts";

const state = (id: string, parent?: string) =>
  ({
    checkpoint: { checkpoint_id: id },
    parent_checkpoint: parent ? { checkpoint_id: parent } : null,
  }) as unknown as State;

test("finds the newest state's branch although the fork has a younger child", () => {
  // a ─┬ b ── d (newest)
  //    └ c
  const states = [state("d", "b"), state("c", "a"), state("b", "a"), state("a")];
  expect(branchAt(states, "d")).toBe("b");
  expect(branchAt(states, "c")).toBe("c");
  expect(branchAt(states, "a")).toBe("");
});

test("a thread without forks has one branch, and an unknown state none", () => {
  expect(branchAt([state("b", "a"), state("a")], "b")).toBe("");
  expect(branchAt([], "x")).toBe("");
});
