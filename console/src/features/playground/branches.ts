import type { State } from "../threads/queries.ts";

/**
 * Returns the branch of the thread's newest state, in `useStream`'s format: the first checkpoint after each fork on the
 * path. The hook's own default follows the newest child at each fork, which need not lead there.
 * @param states newest first
 */
export function branchAt(states: readonly State[], checkpointId: string | undefined): string {
  const byId = new Map(states.map((state) => [state.checkpoint?.checkpoint_id, state]));
  const children = new Map<string | undefined, number>();
  // states beyond the fetched ones count as one root, if any branch starts there
  const parentId = ({ parent_checkpoint: parent }: State) => parent?.checkpoint_id ?? undefined;
  for (const state of states) children.set(parentId(state), (children.get(parentId(state)) ?? 0) + 1);
  const path: string[] = [];
  let state = byId.get(checkpointId);
  while (state) {
    const parent = parentId(state);
    if ((children.get(parent) ?? 0) > 1) path.unshift(state.checkpoint!.checkpoint_id!);
    state = parent === undefined ? undefined : byId.get(parent);
  }
  return path.join(">");
}
