import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";

/** Keys that describe the checkpoint itself and are never overridden. */
const OWN_METADATA = ["source", "step", "parents", "counters_since_delta_snapshot"];
const TASK_METADATA = new Set([
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
  "langgraph_step",
  "langgraph_node",
  "langgraph_triggers",
  "langgraph_path",
  "langgraph_checkpoint_ns",
]);

/** Users as a project's authentication returned them: they may hold credentials. Their ids stay. */
export const USER_OBJECTS = ["langgraph_auth_user", "heddle_answering_user"] as const;

/**
 * Merges a checkpoint's metadata: its own keys take precedence over the run's config, without the keys that the library
 * adds for the task that a subgraph runs in. `runId`: the run that puts it, if any.
 */
export function mergedMetadata(
  config: RunnableConfig,
  metadata: CheckpointMetadata,
  runId: string | undefined,
): Record<string, unknown> {
  const own = metadata as Record<string, unknown>;
  if (!config.metadata && !runId) return own;
  const merged: Record<string, unknown> = { ...own };
  // a copied checkpoint's metadata may name the run that made the original
  delete merged["run_id"];
  for (const source of runId ? [config.configurable, config.metadata] : [config.metadata]) {
    for (const [name, value] of Object.entries(source ?? {})) {
      if (!name.startsWith("__") && !TASK_METADATA.has(name)) merged[name] = value;
    }
  }
  for (const name of USER_OBJECTS) delete merged[name];
  if (runId) merged["run_id"] = runId;
  for (const name of OWN_METADATA) if (name in own) merged[name] = own[name];
  return merged;
}
