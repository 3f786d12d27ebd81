import { USER_OBJECTS } from "../checkpoints/merged-metadata.ts";
import { omit } from "../omit.ts";
import { toCheckpoint, toTaskCheckpoint } from "../calls/thread-state.ts";

interface CheckpointPayload {
  config?: Config;
  parentConfig?: Config;
  values: unknown;
  metadata: unknown;
  next: string[];
  tasks: Task[];
}
interface Config {
  configurable?: Record<string, unknown>;
  callbacks?: unknown;
}
interface Task {
  state?: unknown;
}

/** Payload of mode `checkpoints`. */
export function checkpointPayload({ values, metadata, next }: Pick<CheckpointPayload, "metadata" | "next" | "values">) {
  return { values, metadata, next };
}

/** Payload of mode `debug`: LangGraph's, without process internals. */
export function debugPayload<T extends { type: string; payload: unknown }>(chunk: T): T {
  if (chunk.type === "checkpoint") return { ...chunk, payload: debugCheckpoint(chunk.payload as CheckpointPayload) };
  if (chunk.type === "task_result") return { ...chunk, payload: withoutState(chunk.payload as Task) };
  return chunk;
}

function debugCheckpoint({ parentConfig, ...payload }: CheckpointPayload) {
  return {
    ...payload,
    config: publicConfig(payload.config),
    parent_config: publicConfig(parentConfig),
    tasks: payload.tasks.map(withoutState),
    checkpoint: toCheckpoint(payload.config),
    parent_checkpoint: toCheckpoint(parentConfig),
  };
}

function withoutState(task: Task): object {
  const checkpoint = toTaskCheckpoint(task.state);
  if (!checkpoint) return task;
  return { ...omit(task, "state"), checkpoint };
}

function publicConfig(config: Config | undefined): object | undefined {
  if (!config) return undefined;
  const entries = Object.entries(config.configurable ?? {}).filter(([key]) => !key.startsWith("__"));
  return { ...omit(config, "callbacks"), configurable: omit(Object.fromEntries(entries), ...USER_OBJECTS) };
}
