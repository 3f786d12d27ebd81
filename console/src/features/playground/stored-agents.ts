import type { State } from "../threads/queries.ts";

export interface StoredAgent {
  /** Its namespace: `node:task`. */
  id: string;
  name: string;
}

/**
 * Returns the subgraphs that ran in the last run of a thread, oldest first: the checkpoints of their tasks are in their
 * own namespaces.
 * @param states newest first
 */
export function storedAgents(states: readonly State[]): StoredAgent[] {
  const runOf = ({ metadata }: State) => (metadata as { run_id?: string } | null)?.run_id;
  const last = states[0] && runOf(states[0]);
  const found = new Map<string, StoredAgent>();
  for (const state of states.toReversed()) {
    if (runOf(state) !== last) continue;
    for (const { name, checkpoint } of state.tasks) {
      const id = (checkpoint as { checkpoint_ns?: string } | null | undefined)?.checkpoint_ns;
      if (typeof id === "string" && id !== "") found.set(id, { id, name });
    }
  }
  return [...found.values()];
}
