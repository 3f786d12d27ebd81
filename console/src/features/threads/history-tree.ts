import type { State } from "./queries.ts";

export interface TreeRow {
  state: State;
  /** Preceding state; absent for the first fetched one. */
  parent: State | undefined;
  /** 0 is the branch of the newest state; each fork away from it adds one. */
  depth: number;
  /** Whether it is the first state of a branch that is not the newest at its fork. */
  isFork: boolean;
  /** Checkpoint with which its branch begins; empty: the branch of the newest state. */
  branch: string;
}

const checkpointId = (state: State) => state.checkpoint?.checkpoint_id ?? "";

/**
 * Returns states as a tree, from the newest down to the first: branches follow the branch that they forked from,
 * indented. Ids are ordered by time.
 */
export function treeRows(states: readonly State[]): TreeRow[] {
  const known = new Map(states.map((state) => [checkpointId(state), state]));
  const children = new Map<string, State[]>();
  for (const state of states) {
    const parent = state.parent_checkpoint?.checkpoint_id;
    const key = parent !== undefined && parent !== null && known.has(parent) ? parent : "";
    children.set(key, [...(children.get(key) ?? []), state]);
  }
  const newest = new Map<string, string>();
  for (const state of states.toSorted((a, b) => checkpointId(b).localeCompare(checkpointId(a)))) {
    const id = checkpointId(state);
    const below = (children.get(id) ?? []).map((child) => newest.get(checkpointId(child)) ?? "");
    newest.set(id, [id, ...below].toSorted().at(-1)!);
  }
  const rows: TreeRow[] = [];
  const append = (siblings: readonly State[], depth: number, parent: State | undefined, above: string): void => {
    const sorted = siblings.toSorted((a, b) =>
      newest.get(checkpointId(b))!.localeCompare(newest.get(checkpointId(a))!),
    );
    for (const [rank, state] of sorted.entries()) {
      const own = rank === 0 ? depth : depth + 1;
      const branch = rank === 0 ? above : checkpointId(state);
      append(children.get(checkpointId(state)) ?? [], own, state, branch);
      rows.push({ state, parent, depth: own, isFork: rank > 0, branch });
    }
  };
  append(children.get("") ?? [], 0, undefined, "");
  return rows;
}

export interface Branch {
  /** Checkpoint with which it begins. */
  id: string;
  /** Place among the branches, from 2: 1 is that of the newest state. */
  number: number;
  depth: number;
  size: number;
  /** Its newest state. */
  newest: State;
  /** State from which it was forked; absent when it is not among the fetched ones. */
  origin: State | undefined;
}

export type HistoryLine = { branch: Branch; row?: undefined } | { branch?: undefined; row: TreeRow };

/** Returns the lines of a tree: each branch has a heading, and its states are below it while it is open. */
export function historyLines(rows: readonly TreeRow[], open: ReadonlySet<string>): HistoryLine[] {
  const branches = new Map<string, Branch>();
  const above = new Map<string, string>();
  const branchOf = new Map(rows.map(({ state, branch }) => [checkpointId(state), branch]));
  for (const { branch: id, depth, state, parent, isFork } of rows) {
    if (id === "") continue;
    const known = branches.get(id) ?? {
      id,
      number: branches.size + 2,
      depth,
      size: 0,
      newest: state,
      origin: undefined,
    };
    branches.set(id, { ...known, size: known.size + 1, ...(isFork && { origin: parent }) });
    if (isFork) above.set(id, branchOf.get(parent ? checkpointId(parent) : "") ?? "");
  }
  const isShown = (id: string): boolean => id === "" || (open.has(id) && isShown(above.get(id) ?? ""));
  const headed = new Set<string>();
  return rows.flatMap((row): HistoryLine[] => {
    const { branch: id } = row;
    const lines: HistoryLine[] = isShown(id) ? [{ row }] : [];
    if (id === "" || headed.has(id)) return lines;
    headed.add(id);
    return isShown(above.get(id) ?? "") ? [{ branch: branches.get(id)! }, ...lines] : lines;
  });
}

/** Returns the branches that are open at first: those with one of these states. */
export function branchesWith(rows: readonly TreeRow[], ids: readonly (string | null | undefined)[]): Set<string> {
  const byState = new Map(rows.map((row) => [checkpointId(row.state), row]));
  const found = new Set<string>();
  for (const id of ids) {
    for (let row = byState.get(id ?? ""); row; row = row.parent && byState.get(checkpointId(row.parent))) {
      if (row.branch !== "") found.add(row.branch);
    }
  }
  return found;
}
