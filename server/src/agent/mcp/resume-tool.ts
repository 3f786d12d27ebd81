/**
 * The tool that answers interrupts. The server has no sessions, so it cannot ask the client: a call whose graph
 * interrupts returns the questions and its thread, and this tool resumes the thread. Works with every MCP client.
 */
import { notFound } from "../../base/errors.ts";
import { INVALID_PARAMS, RpcError } from "../../base/http/json-rpc.ts";
import { isUuid } from "../../base/ids.ts";
import { requireThread } from "../custom-auth/require-thread.ts";
import type { AgentDeps } from "../deps.ts";
import { type AcceptedRun, createRun } from "../runs/create-run.ts";
import { runBody } from "../runs/schema.ts";
import type { Caller } from "./caller.ts";
import { type InterruptedCall, selectInterruptedCall } from "./sql.ts";

/** Assistants of this name get a part of their id. */
export const RESUME_TOOL = "resume_interrupted";

export const resumeTool = {
  name: RESUME_TOOL,
  description:
    "Continues a tool call that stopped with status interrupted, because it needs an answer first. " +
    "Pass the thread_id of its result and the answer.",
  inputSchema: {
    type: "object",
    properties: {
      thread_id: { type: "string", description: "thread_id of the interrupted call's result" },
      answer: { description: "Answer to the interrupt. Any JSON value." },
      answers: {
        type: "object",
        description: "Answers by interrupt id, where the call has several interrupts",
        additionalProperties: true,
      },
    },
    required: ["thread_id"],
  },
};

/** Starts the run that continues an interrupted call. */
export async function resumeCall(
  deps: AgentDeps,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<AcceptedRun> {
  const { thread_id: threadId, answer, answers } = input;
  if (typeof threadId !== "string" || !isUuid(threadId)) {
    throw new RpcError(INVALID_PARAMS, "thread_id must be the thread_id of an interrupted call's result.");
  }
  const unknown = notFound(`Thread ${threadId} has no interrupted call. It may have been answered or have expired.`);
  await requireThread(deps, caller.principal, "threads:read", { thread_id: threadId }, unknown);
  const call = await selectInterruptedCall(deps.sql, threadId);
  if (!call) throw unknown;
  const body = runBody.parse({
    assistant_id: call.assistant_id,
    command: { resume: toResume(call, answer, answers) },
    multitask_strategy: "reject",
  });
  return createRun(deps, { threadId, body, keepInterrupted: true, ...caller });
}

/** Names the interrupts, so that an answer never meets another one. */
function toResume({ interrupts }: InterruptedCall, answer: unknown, answers: unknown): Record<string, unknown> {
  if (typeof answers === "object" && answers !== null && !Array.isArray(answers) && Object.keys(answers).length > 0) {
    return answers as Record<string, unknown>;
  }
  if (answer === undefined) throw new RpcError(INVALID_PARAMS, "answer or answers is required.");
  if (interrupts.length === 1) return { [interrupts[0]!.id]: answer };
  const ids = interrupts.map(({ id }) => id).join(", ");
  throw new RpcError(INVALID_PARAMS, `Several interrupts are pending: set answers, with the keys ${ids}.`);
}
