import type { TreeRun } from "./trace-tree.ts";

/** A run of a tree, for tests: times in milliseconds, pending without an end. */
export const sampleTreeRun = (
  id: string,
  start: number,
  end: number | null,
  parentId: string | null = null,
  more: Partial<TreeRun> = {},
): TreeRun => ({
  id,
  name: id,
  run_type: "chain",
  status: end === null ? "pending" : "success",
  start,
  end,
  firstToken: null,
  tokens: null,
  cost: null,
  error: null,
  parentId,
  ...more,
});
