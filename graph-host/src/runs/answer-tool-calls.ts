/**
 * Results for tool calls that were stopped. A run that is cancelled, fails or is abandoned while its tools work leaves
 * an AI message whose tool calls have no result, and model providers reject such a conversation. New input then adds a
 * result for each call, before its own messages and through the graph's own reducer. A run that continues, with a
 * resume or with no input, runs the tools instead.
 */
import { type AIMessage, type BaseMessage, isBaseMessage, ToolMessage } from "@langchain/core/messages";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Graph } from "../graphs/graph.ts";

type Fields = Record<string, unknown>;

/** Adds results for the open tool calls of `head`, a checkpoint that nodes would have followed, to the input. */
export async function answerToolCalls(graph: Graph, head: CheckpointTuple, input: Fields): Promise<Fields> {
  // by id, so that writes that the input will discard are not shown as written
  const { values } = await graph.getState(head.config);
  const answered = { ...input };
  for (const [key, messages] of Object.entries((values ?? {}) as Fields)) {
    const inputMessages = [input[key] ?? []].flat() as unknown[];
    const calls = openCalls(messages).filter(({ id }) => !inputMessages.some((message) => isResult(message, id)));
    if (calls.length === 0) continue;
    const finished = (head.pendingWrites ?? []).flatMap(([, channel, value]) => (channel === key ? value : []));
    const results = calls.map((call) => finished.find((message) => isResult(message, call.id)) ?? stopped(call));
    answered[key] = [...results, ...inputMessages];
  }
  return answered;
}

interface Call {
  id: string;
  name: string;
}

/** Returns the tool calls of the last AI message without a result; none where other messages follow it. */
function openCalls(messages: unknown): Call[] {
  if (!Array.isArray(messages)) return [];
  const done = new Set<string>();
  for (const message of (messages as unknown[]).toReversed()) {
    if (!isBaseMessage(message)) return [];
    if (message.getType() === "tool") done.add((message as ToolMessage).tool_call_id);
    else return toolCalls(message).filter(({ id }) => !done.has(id));
  }
  return [];
}

function toolCalls(message: BaseMessage): Call[] {
  if (message.getType() !== "ai") return [];
  return ((message as AIMessage).tool_calls ?? []).flatMap(({ id, name }) => (id === undefined ? [] : [{ id, name }]));
}

const isResult = (message: unknown, id: string): boolean =>
  typeof message === "object" && message !== null && (message as Fields)["tool_call_id"] === id;

function stopped({ id, name }: Call): ToolMessage {
  const content = `No result: the call to "${name}" was stopped before it returned.`;
  return new ToolMessage({ content, tool_call_id: id, name, status: "error" });
}
