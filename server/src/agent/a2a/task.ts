import { uuid5 } from "../../base/ids.ts";
import type { Artifact, Message, Part, Task, TaskState } from "./generation.ts";
import type { TaskRow } from "./sql.ts";

/** Namespace of the ids of artifacts and messages derived from a run: the same at each request. */
const NAMESPACE = "0b1f6d0a-6c4e-4c59-8f3a-5a3cf9a2d7c1";

interface StateMessage {
  type?: string;
  role?: string;
  id?: string;
  content?: unknown;
}

export interface History {
  length: number;
  /** Messages of the whole context, or only from this task's own on. */
  scope: "context" | "task";
}

export interface Interrupt {
  id: string;
  value: unknown;
}

export function openInterrupts(row: TaskRow): Interrupt[] {
  if (!row.is_last || row.cancelled) return [];
  return Object.values(row.interrupts)
    .flat()
    .flatMap(({ id, value }) => (id === undefined ? [] : [{ id, value }]));
}

export function taskState(row: TaskRow): TaskState {
  switch (row.status) {
    case "pending":
      return "submitted";
    case "running":
      return "working";
    case "success":
      if (row.cancelled) return "canceled";
      return openInterrupts(row).length > 0 ? "input-required" : "completed";
    case "interrupted":
      return "canceled";
    default:
      return "failed";
  }
}

export function serializeTask(row: TaskRow, history: History, withArtifacts = true): Task {
  const { task_id: id, thread_id: contextId } = row;
  const state = taskState(row);
  const message = statusMessage(row, state);
  const withHistory = history.length > 0 && { history: taskHistory(row, history) };
  return {
    kind: "task",
    id,
    contextId,
    status: { state, timestamp: row.updated_at.toISOString(), ...(message && { message }) },
    artifacts: state === "completed" && withArtifacts ? taskArtifacts(row) : [],
    ...withHistory,
  };
}

export const artifactId = (runId: string): string => uuid5(`artifact ${runId}`, NAMESPACE);

/**
 * Artifacts of a task: the assistant's last message, or the whole state where the graph does not work on messages. A
 * task that is no longer the thread's last run only has its message.
 */
function taskArtifacts(row: TaskRow): Artifact[] {
  const lastReply = ownMessages(row).findLast((message) => messageRole(message) === "agent");
  if (lastReply === undefined && !row.is_last) return [];
  const part: Part = lastReply
    ? { kind: "text", text: contentText(lastReply.content) }
    : { kind: "data", data: row.values ?? {} };
  return [{ artifactId: artifactId(row.run_id), name: "Assistant Response", parts: [part] }];
}

/** Messages from the task's first one up to the next user message. */
function ownMessages(row: TaskRow): StateMessage[] {
  const all = stateMessages(row.values);
  const own = stateMessages(row.input as Record<string, unknown> | null)[0]?.id;
  const first = own === undefined ? -1 : all.findIndex(({ id }) => id === own);
  if (first === -1) return row.is_last ? all : [];
  const next = all.findIndex((message, i) => i > first && messageRole(message) === "user");
  return all.slice(first, next === -1 ? undefined : next);
}

function stateMessages(values: Record<string, unknown> | null): StateMessage[] {
  const messages = values?.["messages"];
  return Array.isArray(messages)
    ? (messages as StateMessage[]).filter((message) => message && typeof message === "object")
    : [];
}

function messageRole({ type, role }: StateMessage): "user" | "agent" | undefined {
  const name = type ?? role;
  if (name === "human" || name === "user") return "user";
  return name === "ai" || name === "assistant" ? "agent" : undefined;
}

export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) => (typeof block === "string" ? block : ((block as { text?: string } | null)?.text ?? "")))
    .join("");
}

function statusMessage(row: TaskRow, state: TaskState): Message | undefined {
  if (state === "failed") return agentMessage(row, [{ kind: "text", text: row.error?.message ?? "The run failed." }]);
  if (state !== "input-required") return undefined;
  const interrupts = openInterrupts(row);
  const texts = interrupts.flatMap(({ value }): Part[] =>
    typeof value === "string" ? [{ kind: "text", text: value }] : [],
  );
  return agentMessage(row, [...texts, { kind: "data", data: { interrupts } }]);
}

function agentMessage({ run_id, task_id: taskId, thread_id: contextId }: TaskRow, parts: Part[]): Message {
  const messageId = uuid5(`status ${run_id}`, NAMESPACE);
  return { kind: "message", role: "agent", messageId, parts, taskId, contextId };
}

/** The newest `length` messages. */
function taskHistory(row: TaskRow, { length, scope }: History): Message[] {
  const messages = scope === "task" ? ownMessages(row) : stateMessages(row.values);
  return messages
    .flatMap((message, i): Message[] => {
      const role = messageRole(message);
      const text = contentText(message.content);
      if (role === undefined || text === "") return [];
      const messageId = message.id ?? uuid5(`message ${row.thread_id} ${i}`, NAMESPACE);
      return [{ kind: "message", role, messageId, contextId: row.thread_id, parts: [{ kind: "text", text }] }];
    })
    .slice(-length);
}
