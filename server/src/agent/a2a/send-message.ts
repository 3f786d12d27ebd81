import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";
import { INVALID_PARAMS, RpcError } from "../../base/http/json-rpc.ts";
import { isUuid, uuid7 } from "../../base/ids.ts";
import type { AgentDeps } from "../deps.ts";
import { type AcceptedRun, createRun } from "../runs/create-run.ts";
import { runBody } from "../runs/schema.ts";
import { pushNotSupported, unsupported } from "./errors.ts";
import { findTask } from "./find-task.ts";
import { inputModes, TEXT } from "./input-modes.ts";
import type { Part } from "./generation.ts";
import type { SendMessageParams } from "./schema.ts";
import { openInterrupts, taskState } from "./task.ts";

export interface Caller {
  assistantId: string;
  graphId: string;
  principal: Principal;
  headers: Headers;
}

export interface SendResult {
  taskId: string;
  run: AcceptedRun;
}

/**
 * Starts a task, or answers a task's interrupt, by a run of the assistant.
 * @param beforeRun called with the thread of a new task; may reject it
 */
export async function sendMessage(
  deps: AgentDeps,
  caller: Caller,
  sending: SendMessageParams,
  beforeRun?: (threadId: string) => Promise<void>,
): Promise<SendResult> {
  if (!caller.principal.permissions.has("runs:create")) {
    throw forbidden("Forbidden: the permission runs:create is required.");
  }
  // never silently dropped: the client would wait for the notifications
  const { pushNotificationConfig, taskPushNotificationConfig } = sending.configuration ?? {};
  if (pushNotificationConfig ?? taskPushNotificationConfig) throw pushNotSupported();
  const { taskId, contextId } = sending.message;
  const begun = taskId ? await resumption(deps, caller, taskId, sending) : undefined;
  const threadId = begun?.threadId ?? resolveContextId(contextId);
  if (!begun) await beforeRun?.(threadId);
  const body = runBody.parse({
    assistant_id: caller.assistantId,
    ...(begun
      ? { command: { resume: begun.resume }, multitask_strategy: "reject" }
      : { input: await buildInput(deps, caller, sending) }),
    metadata: { ...sending.metadata, source: "a2a", ...(begun && { a2a_task_id: taskId }) },
    stream_mode: ["messages-tuple", "values"],
    if_not_exists: "create",
  });
  const { principal, headers } = caller;
  const run = await createRun(deps, { threadId, body, principal, headers });
  return { taskId: taskId ? taskId : run.runId, run };
}

function resolveContextId(contextId: string | null | undefined): string {
  if (!contextId) return uuid7();
  if (!isUuid(contextId)) throw new RpcError(INVALID_PARAMS, `contextId must be a UUID, not "${contextId}".`);
  return contextId;
}

/** Resolves a message for an existing task as an answer to its interrupts; a task takes no other messages. */
async function resumption(deps: AgentDeps, caller: Caller, taskId: string, { message }: SendMessageParams) {
  const row = await findTask(deps, caller, taskId);
  if (message.contextId && message.contextId !== row.thread_id) {
    throw new RpcError(INVALID_PARAMS, `Task ${taskId} does not belong to the context ${message.contextId}.`);
  }
  const state = taskState(row);
  if (state !== "input-required") throw unsupported(`Task ${taskId} is ${state} and accepts no messages.`);
  return { threadId: row.thread_id, resume: toResumeValue(message.parts, openInterrupts(row)) };
}

/**
 * The resume value. `{resume: [{id, value}]}` answers several interrupts; otherwise the data part, or else the text, is
 * the answer.
 */
function toResumeValue(parts: Part[], interrupts: { id: string }[]): unknown {
  const data = parts.find((part) => part.kind === "data")?.data;
  const several = (data as { resume?: unknown } | null | undefined)?.resume;
  if (Array.isArray(several)) {
    const entries = several.map((interrupt: { id?: unknown; value?: unknown } | null) => {
      const known = interrupts.some(({ id }) => id === interrupt?.id);
      if (!known)
        throw new RpcError(INVALID_PARAMS, `resume names no pending interrupt: ${JSON.stringify(interrupt?.id)}`);
      return [interrupt!.id as string, interrupt!.value ?? null];
    });
    return Object.fromEntries(entries) as object;
  }
  if (interrupts.length > 1) {
    const ids = interrupts.map(({ id }) => id).join(", ");
    throw new RpcError(
      INVALID_PARAMS,
      `Several interrupts are pending: send a data part {"resume": [{"id", "value"}]} for ${ids}.`,
    );
  }
  // by id, so that an empty answer counts as well
  return { [interrupts[0]!.id]: data === undefined ? joinText(parts) : data };
}

const joinText = (parts: Part[]): string =>
  parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");

/**
 * Input of a new task. Text and files become a message, if the graph accepts messages; data parts are fields of the
 * input.
 */
async function buildInput(
  deps: AgentDeps,
  { graphId }: Caller,
  { message }: SendMessageParams,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const part of message.parts) {
    if (part.kind !== "data") continue;
    if (part.data === null || typeof part.data !== "object" || Array.isArray(part.data)) {
      throw new RpcError(INVALID_PARAMS, "A data part must be an object; its fields become fields of the input.");
    }
    Object.assign(input, part.data);
  }
  const spoken = message.parts.filter((part) => part.kind !== "data");
  if (spoken.length === 0) return input;
  if (!(await inputModes(deps, graphId)).includes(TEXT)) {
    throw new RpcError(
      INVALID_PARAMS,
      'This assistant accepts no text, because its input has no "messages". Send a data part.',
    );
  }
  const content = spoken.every((part) => part.kind === "text") ? joinText(spoken) : spoken.map(toContentBlock);
  const before = Array.isArray(input["messages"]) ? (input["messages"] as unknown[]) : [];
  const role = message.role === "agent" ? "assistant" : "user";
  return { ...input, messages: [...before, { role, content, id: message.messageId }] };
}

function toContentBlock(part: Part): object {
  if (part.kind === "text") return { type: "text", text: part.text };
  const { uri, bytes, mimeType } = (part as Extract<Part, { kind: "file" }>).file;
  const type = /^(image|audio|video)\//.exec(mimeType ?? "")?.[1] ?? "file";
  return { type, ...(uri === undefined ? { data: bytes } : { url: uri }), ...(mimeType && { mime_type: mimeType }) };
}
