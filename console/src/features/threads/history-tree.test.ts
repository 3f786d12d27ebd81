import { expect, test } from "vitest";

import { branchesWith, historyLines, treeRows } from "./history-tree.ts";
import type { State } from "./queries.ts";

const state = (id: string, parent?: string) =>
  ({
    checkpoint: { checkpoint_id: id },
    parent_checkpoint: parent ? { checkpoint_id: parent } : null,
  }) as unknown as State;
const drawn = (...states: State[]) =>
  treeRows(states).map(
    ({ state: { checkpoint }, depth, isFork }) =>
      `${" ".repeat(depth)}${checkpoint!.checkpoint_id}${isFork ? "*" : ""}`,
  );

test("a thread without forks is a list, newest first", () => {
  expect(drawn(state("3", "2"), state("2", "1"), state("1"))).toEqual(["3", "2", "1"]);
});

test("the trunk is the newest state's branch, although it forked from the other", () => {
  // 1 ─┬ 2 ── 3
  //    └ 4 ── 5
  expect(drawn(state("5", "4"), state("4", "1"), state("3", "2"), state("2", "1"), state("1"))).toEqual([
    "5",
    "4",
    " 3",
    " 2*",
    "1",
  ]);
  // 1 ─┬ 2 ── 5
  //    └ 4
  expect(drawn(state("5", "2"), state("4", "1"), state("2", "1"), state("1"))).toEqual(["5", "2", " 4*", "1"]);
});

test("a history may start at a state whose parent is not loaded", () => {
  expect(drawn(state("3", "2"), state("2", "1"))).toEqual(["3", "2"]);
});

test("lays out a thousand states in a row", () => {
  const many = Array.from({ length: 1000 }, (_, n) =>
    state(String(n).padStart(5, "0"), n ? String(n - 1).padStart(5, "0") : undefined),
  );
  expect(treeRows(many.toReversed())).toHaveLength(1000);
});

test("each branch has a heading, and its states are shown while it and those above it are open", () => {
  // 1 ─┬ 2 ─┬ 3
  //    │    └ 4
  //    └ 5
  const rows = treeRows([state("5", "1"), state("4", "2"), state("3", "2"), state("2", "1"), state("1")]);
  const lines = (...open: string[]) =>
    historyLines(rows, new Set(open)).map(({ branch, row }) =>
      branch
        ? `branch ${branch.number} from ${branch.origin?.checkpoint?.checkpoint_id}: ${branch.size}`
        : row.state.checkpoint!.checkpoint_id,
    );
  expect(lines()).toEqual(["5", "branch 2 from 1: 2", "1"]);
  expect(lines("2")).toEqual(["5", "branch 2 from 1: 2", "4", "branch 3 from 2: 1", "2", "1"]);
  expect(lines("3")).toEqual(["5", "branch 2 from 1: 2", "1"]);
  expect(lines("2", "3")).toEqual(["5", "branch 2 from 1: 2", "4", "branch 3 from 2: 1", "3", "2", "1"]);
  expect(branchesWith(rows, ["3", null])).toEqual(new Set(["2", "3"]));
  expect(branchesWith(rows, ["5"])).toEqual(new Set());
});
