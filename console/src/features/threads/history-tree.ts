import type { State } from "./queries.ts";

export interface TreeRow {
  state: State;
  /** Preceding state; absent for the first fetched one. */
  parent: State | undefined;
  /** 0 is the branch of the newest state; each fork away from it adds one. */
  depth: number;
  /** Whether it is the first state of a branch that is not the newest at its fork. */
  isFork: boolean;
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
  const append = (siblings: readonly State[], depth: number, parent: State | undefined): void => {
    const sorted = siblings.toSorted((a, b) =>
      newest.get(checkpointId(b))!.localeCompare(newest.get(checkpointId(a))!),
    );
    for (const [rank, state] of sorted.entries()) {
      const own = rank === 0 ? depth : depth + 1;
      append(children.get(checkpointId(state)) ?? [], own, state);
      rows.push({ state, parent, depth: own, isFork: rank > 0 });
    }
  };
  append(children.get("") ?? [], 0, undefined);
  return rows;
}
