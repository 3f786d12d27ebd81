import { Command, Send } from "@langchain/langgraph";
import type { Graph } from "../graphs/graph.ts";
import type { RunKwargs } from "../protocol.ts";
import type { RunOptions } from "./run-options.ts";

/** What LangGraph is called with. Null means: go on from the checkpoint. */
export function runInput(kwargs: RunKwargs): unknown {
  return kwargs.command ? toCommand(kwargs.command) : (kwargs.input ?? null);
}

/** Contract agent-server §7.1: `goto` is a node, a Send as `{node, input}`, or a list of these. */
export function toCommand(command: NonNullable<RunKwargs["command"]>): Command {
  const { update, resume, goto } = command;
  return new Command({
    ...(update != null && { update: update as Record<string, unknown> }),
    ...(resume !== undefined && { resume }),
    ...(goto != null && { goto: [goto].flat().map(toTarget) }),
  });
}

function toTarget(target: unknown): string | Send {
  if (typeof target === "string") return target;
  const { node, input } = target as { node: string; input?: unknown };
  return new Send(node, input ?? {});
}

/**
 * LangGraph.js 1.4 takes a resume value of false, 0 or "" for no value at all, and fails. By the ids of the
 * interrupts that wait it does take them. Undefined when there is nothing to work around.
 */
export async function resumeWithFalsy(
  graph: Graph,
  { command }: RunKwargs,
  options: RunOptions,
): Promise<Command | undefined> {
  if (!command || command.resume === undefined || command.resume === null || command.resume) return undefined;
  const { thread_id, checkpoint_id } = options.configurable;
  const state = await graph.getState({
    configurable: { thread_id, checkpoint_ns: "", ...(checkpoint_id !== undefined && { checkpoint_id }) },
  });
  const ids = state.tasks.flatMap((task) => task.interrupts).flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return undefined;
  return toCommand({ ...command, resume: Object.fromEntries(ids.map((id) => [id, command.resume])) });
}
