/** A server whose graphs interrupt, and the steps that tests of resumes share. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { testAgentServer } from "./agent-server.ts";

export const QUESTIONS_PROJECT = fileURLToPath(new URL("fixtures/questions-project/langgraph.json", import.meta.url));

export type Run = { run_id: string; status: string; error: { error: string; message: string } | null };
export type Question = { id: string; value: string };

/** Error of a run that was rejected when it began. */
export const UNKNOWN = { status: "error", error: { error: "UnknownInterruptError" } };

export async function questionServer() {
  const server = await testAgentServer({}, QUESTIONS_PROJECT);
  const post = (path: string, body: object) => server.call("POST", path, body);
  const get = async (path: string) => (await server.call("GET", path)).json;

  /** Creates a thread on which `graph` has interrupted. */
  async function startInterrupted(graph: string, input: object): Promise<string> {
    const { thread_id: threadId } = (await post("/threads", {})).json;
    await post(`/threads/${threadId}/runs/wait`, { assistant_id: graph, input: { ms: 0, ...input } });
    return threadId;
  }

  const start = (threadId: string, graph: string, more: object) =>
    post(`/threads/${threadId}/runs`, { assistant_id: graph, ...more });

  const resume = (threadId: string, graph: string, answer: unknown, more: object = {}) =>
    start(threadId, graph, { command: { resume: answer }, ...more });

  /** Returns the thread's runs in order of creation, once all have ended. */
  async function ended(threadId: string): Promise<Run[]> {
    for (;;) {
      const runs = (await get(`/threads/${threadId}/runs`)) as Run[];
      if (runs.every(({ status }) => status !== "pending" && status !== "running")) return runs.reverse();
      await sleep(20);
    }
  }

  async function pending(threadId: string): Promise<Question[]> {
    const { interrupts } = await get(`/threads/${threadId}`);
    return Object.values(interrupts as Record<string, Question[]>).flat();
  }

  /** Resolves when the newest run executes and, with `before`, the run before it has that status. */
  async function running(threadId: string, before?: string): Promise<void> {
    for (;;) {
      const [newest, last] = (await get(`/threads/${threadId}/runs`)) as Run[];
      if (newest?.status === "running" && (before === undefined || last?.status === before)) return;
      await sleep(10);
    }
  }

  return { server, post, get, startInterrupted, start, resume, ended, pending, running };
}
