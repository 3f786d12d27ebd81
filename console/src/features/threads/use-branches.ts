import { useMemo, useState } from "react";

import { branchesWith, type HistoryLine, historyLines, treeRows } from "./history-tree.ts";
import type { State } from "./queries.ts";

export interface Branches {
  lines: HistoryLine[];
  /** Numbers of the branches by their ids; the newest one's is 1. */
  numbers: ReadonlyMap<string, number>;
  isOpen: (branch: string) => boolean;
  toggle: (branch: string) => void;
}

/**
 * The states of a thread as a tree. Branches other than the newest are closed until they are opened, or one of their
 * states is shown.
 * @param shown checkpoints that the page shows
 */
export function useBranches(states: readonly State[], shown: readonly (string | null | undefined)[]): Branches {
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const rows = useMemo(() => treeRows(states), [states]);
  const open = new Set(branchesWith(rows, shown));
  for (const [id, isOpen] of changed) {
    if (isOpen) open.add(id);
    else open.delete(id);
  }
  const all = historyLines(rows, new Set(rows.map(({ branch }) => branch)));
  return {
    lines: historyLines(rows, open),
    numbers: new Map([["", 1], ...all.flatMap(({ branch }) => (branch ? [[branch.id, branch.number] as const] : []))]),
    isOpen: (id) => open.has(id),
    toggle: (id) => setChanged(new Map(changed).set(id, !open.has(id))),
  };
}
