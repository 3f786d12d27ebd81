import type { Checkpoint, CheckpointMetadata, PendingWrite } from "@langchain/langgraph-checkpoint";

const START = "__start__";

/**
 * Identifies the writes of a run that precede any user code of it, so that no caller needs to wait for them.
 *
 * An input's checkpoint: nothing of that graph has run. The library itself never waits for it before the first step;
 * resolving it at once only lets the next checkpoint join the same statement.
 *
 * The start step: the library copies the input to the graph's channels. Its checkpoint follows the input's, and no node
 * other than `__start__` has seen new versions since. The saver cannot see whether the start step runs user code (a
 * router on the entry), so the host passes it, for the root graph.
 */
export class StartStep {
  #passive: boolean;
  /** `seen`: the versions that each node has seen, as JSON text. */
  #input: { id: string; seen: ReadonlyMap<string, string> } | undefined;
  #over = false;

  constructor(passive: boolean) {
    this.#passive = passive;
  }

  putsEarly(ns: string, checkpoint: Checkpoint, metadata: CheckpointMetadata): boolean {
    if (metadata.source === "input") {
      if (ns === "" && this.#passive && !this.#over) {
        this.#input = { id: checkpoint.id, seen: versionTexts(checkpoint) };
      }
      return true;
    }
    const input = this.#input;
    this.#input = undefined;
    this.#over = true;
    return input !== undefined && ns === "" && metadata.source === "loop" && onlyStartRan(input.seen, checkpoint);
  }

  putsWritesEarly(ns: string, checkpointId: string, writes: PendingWrite[]): boolean {
    return ns === "" && this.#input?.id === checkpointId && writes.every(([channel]) => !FAILURES.has(channel));
  }
}

/** Writes that record a failed or interrupted task: user code has run. */
const FAILURES = new Set(["__error__", "__error_source_node__", "__interrupt__", "__scheduled__"]);

function onlyStartRan(before: ReadonlyMap<string, string>, checkpoint: Checkpoint): boolean {
  return [...versionTexts(checkpoint)].every(([node, versions]) => node === START || versions === before.get(node));
}

function versionTexts({ versions_seen }: Checkpoint): Map<string, string> {
  return new Map(Object.entries(versions_seen).map(([node, versions]) => [node, JSON.stringify(versions)]));
}

/**
 * True when the graph is a compiled StateGraph whose entry is a plain edge: its start step only copies, in the
 * library's code. Routers on the entry, and tasks of the functional API, are user code.
 */
export function startsWithoutUserCode(graph: unknown): boolean {
  const { builder, nodes } = graph as {
    builder?: { branches?: Record<string, unknown> };
    nodes?: Record<string, unknown>;
  };
  if (!builder?.branches || !nodes?.[START]) return false;
  return Object.keys(builder.branches[START] ?? {}).length === 0;
}
