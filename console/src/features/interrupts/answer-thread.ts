import { agentApi, data } from "../../api/clients.ts";
import type { Thread } from "../threads/queries.ts";

type ThreadRef = Pick<Thread, "thread_id" | "metadata">;

/**
 * Starts the run that resumes the thread. `reject`: when another user has just answered, this answer is rejected
 * instead of answering the next question.
 * @param resume undefined: the thread stopped at a breakpoint, without a question
 */
export async function answerThread(server: string, thread: ThreadRef, resume?: { value: unknown }) {
  const options = resume ? { command: { resume: resume.value } } : { input: null };
  return await startRun(server, thread, { ...options, multitask_strategy: "reject" });
}

/**
 * Copies the newest checkpoint, so that it can be answered again after the run of an earlier answer has failed. LangGraph
 * keeps an answer that a node has received, and gives it that one again; the copy has no answer. Where other tasks wait
 * or have finished beside the one that asks, a copy would repeat them, so none is made.
 */
export async function copyCheckpoint(server: string, threadId: string): Promise<void> {
  const params = { path: { thread_id: threadId } };
  const state = await data(agentApi(server).GET("/threads/{thread_id}/state", { params }));
  if (state.tasks?.length !== 1) return;
  const body = { values: null, as_node: "__copy__" };
  await data(agentApi(server).POST("/threads/{thread_id}/state", { params, body }));
}

const FOLLOW_MS = 3000;

/**
 * Follows a run for its first seconds, in which a graph rejects an answer that it does not understand.
 * @returns the message of the run's error; null while there is none
 */
export async function earlyFailure(server: string, threadId: string, runId: string): Promise<string | null> {
  const params = { path: { thread_id: threadId, run_id: runId } };
  try {
    const signal = AbortSignal.timeout(FOLLOW_MS);
    const values = await data(agentApi(server).GET("/threads/{thread_id}/runs/{run_id}/join", { params, signal }));
    const failure = (values as { __error__?: { message?: string } } | null)?.__error__;
    return failure ? (failure.message ?? "The run failed") : null;
  } catch {
    // it takes longer, or its outcome cannot be read; the thread's page shows it
    return null;
  }
}

/** Starts a background run from a checkpoint. */
export async function resumeFrom(server: string, thread: ThreadRef, checkpointId: string) {
  return await startRun(server, thread, { input: null, checkpoint_id: checkpointId });
}

async function startRun(server: string, { thread_id: threadId, metadata }: ThreadRef, work: object) {
  const { assistant_id: assistant, graph_id: graph } = (metadata ?? {}) as Record<string, string | undefined>;
  const assistantId = assistant ?? graph;
  if (assistantId === undefined) throw new Error("The run cannot resume: the thread has no assistant in its metadata.");
  const body = {
    ...work,
    assistant_id: assistantId,
    // everything the playground shows, for readers who join there
    stream_mode: ["values", "messages-tuple", "updates", "tasks", "custom"],
    stream_subgraphs: true,
    stream_resumable: true,
  };
  const params = { path: { thread_id: threadId } };
  return await data(agentApi(server).POST("/threads/{thread_id}/runs", { params, body: body as never }));
}
