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
