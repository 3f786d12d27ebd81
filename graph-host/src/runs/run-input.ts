import { Command, Send } from "@langchain/langgraph";
import type { Graph } from "../graphs/graph.ts";
import type { RunKwargs } from "../../../host-kit/src/host-protocol.ts";
import type { RunOptions } from "./run-options.ts";

/** Returns LangGraph's input. Null means: continue from the checkpoint. */
export function runInput(kwargs: RunKwargs): unknown {
  return kwargs.command ? toCommand(kwargs.command) : (kwargs.input ?? null);
}

/**
 * Returns the command with its resume value keyed by the ids of the interrupts that it answers. By id an answer reaches
 * only the interrupts it was bound to: LangGraph stores a plain value with the checkpoint, and passes it to every task
 * that interrupts later. Undefined where ids are unknown; null when an earlier attempt has used up every answer.
 */
export function namedResume({ command, questions }: RunKwargs): RunKwargs["command"] | undefined {
  const { bound, open } = questions ?? {};
  if (!command || command.resume == null || !bound || !open) return undefined;
  const ids = Object.keys(bound);
  if (ids.length === 0 || !ids.every(isInterruptId)) return undefined;
  if (open.length === 0) return null;
  const { resume } = command;
  const resumeMap = isResumeMap(resume) ? resume : undefined;
  return { ...command, resume: Object.fromEntries(open.map((id) => [id, resumeMap ? resumeMap[id] : resume])) };
}

const isInterruptId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id);

/** Repeats LangGraph's own test for answers by id. */
function isResumeMap(resume: unknown): resume is Record<string, unknown> {
  if (typeof resume !== "object" || resume === null) return false;
  const ids = Object.keys(resume);
  return ids.length > 0 && ids.every(isInterruptId);
}

/** Converts a command: `goto` is a node, a Send as `{node, input}`, or a list of these. */
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
 * Works around LangGraph.js 1.4, which treats a resume value of false, 0 or "" as absent and fails, but accepts it
 * keyed by interrupt id. Undefined when no workaround is needed.
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
  // before interrupts had ids, answers were keyed by task
  const ids = state.tasks.flatMap((task) => task.interrupts.map(({ id }) => id ?? task.id));
  if (ids.length === 0) return undefined;
  return toCommand({ ...command, resume: Object.fromEntries(ids.map((id) => [id, command.resume])) });
}
