import { DatabaseAwayError, HeadMovedError, ValueTooLargeError } from "../checkpoints/errors.ts";
import type { Graph, StateUpdate } from "../graphs/graph.ts";
import { omit } from "../omit.ts";
import type { HostCalls, RunKwargs } from "../../../host-kit/src/host-protocol.ts";
import { toCommand } from "../runs/run-input.ts";
import { publicConfigurable } from "../runs/run-options.ts";
import { runResult } from "../runs/run-result.ts";
import { errorName } from "../serialize.ts";
import { CallError } from "./call-error.ts";
import { checkpointConfig } from "./read-state.ts";
import { toCheckpoint } from "./thread-state.ts";

type Params = HostCalls["state.update"]["params"];
type Result = HostCalls["state.update"]["result"];

export async function updateState(graph: Graph, params: Params): Promise<Result> {
  const base = checkpointConfig(params.thread_id, params.checkpoint);
  if (params.checkpoint?.checkpoint_id && (await graph.getState(base)).createdAt === undefined) {
    throw new CallError(
      404,
      "CheckpointNotFound",
      `Thread ${params.thread_id} has no checkpoint ${params.checkpoint.checkpoint_id}`,
    );
  }
  const { configurable, metadata, tags } = params.config as Partial<RunKwargs["config"]>;
  const callerConfigurable = omit(publicConfigurable(configurable), "checkpoint_id", "checkpoint_ns", "checkpoint_map");
  const config = {
    ...(tags && { tags }),
    metadata: { ...metadata, graph_id: params.graph_id },
    configurable: { ...callerConfigurable, ...base.configurable },
  };
  const supersteps = params.supersteps.map(({ updates }) => ({ updates: updates.map(toUpdate) }));
  const updated = await graph.bulkUpdateState(config, supersteps).catch((error: unknown) => {
    // Node bodies do not run here, only writers and reducers: an exception is caused by the update.
    if (!(error instanceof Error) || error instanceof DatabaseAwayError) throw error;
    if (error instanceof HeadMovedError) throw new CallError(409, error.name, error.message);
    if (error instanceof ValueTooLargeError) throw new CallError(413, error.name, error.message);
    throw new CallError(422, errorName(error), error.message);
  });
  const { thread_id, checkpoint_ns, checkpoint_id } = toCheckpoint(updated)!;
  return { checkpoint: { thread_id, checkpoint_ns, checkpoint_id }, state: await runResult(graph, params.thread_id) };
}

function toUpdate({ values, command, as_node }: Params["supersteps"][number]["updates"][number]): StateUpdate {
  const update = command ? toCommand(command) : values;
  return { values: update ?? null, ...(as_node && { asNode: as_node }) };
}
