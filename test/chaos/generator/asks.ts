import { setTimeout as sleep } from "node:timers/promises";

import type { Session } from "./session.ts";

const QUESTIONS = 3;
const PATIENCE_MS = 40_000;

interface Pending {
  question: number;
  interrupt: string;
}

/**
 * Runs a graph that asks three questions, and answers them: with or without the interrupt's name, sometimes twice at
 * once, so that one answer is too late.
 */
export async function dialogue(session: Session): Promise<void> {
  const thread = await session.createThread();
  if (thread === undefined) return;
  const token = session.token();
  const input = { job: { token, questions: QUESTIONS } };
  const { operation } = await session.operation(
    "run.create",
    { thread, token, graph: "asks", mode: "create" },
    async (client, op) => {
      const { run_id } = await client.runs.create(thread, "asks", { input, metadata: { token } });
      session.accept(op, run_id);
    },
  );
  if (operation.outcome !== "ok") return;
  for (let question = 1; question <= QUESTIONS && !session.isStopping; question++) {
    const pending = await untilAsked(session, thread, question);
    if (!pending) return;
    const isNamed = session.chance(0.5);
    const answers = session.chance(0.4) ? 2 : 1;
    const sent = await Promise.all(Array.from({ length: answers }, () => resume(session, thread, pending, isNamed)));
    // an unnamed answer cannot be repeated: it might answer the next question
    if (!isNamed && sent.every((outcome) => outcome === "unknown")) return;
    if (isNamed && sent.every((outcome) => outcome === "unknown")) await resume(session, thread, pending, true);
  }
}

async function resume(
  session: Session,
  thread: string,
  { question, interrupt }: Pending,
  named: boolean,
): Promise<string> {
  const token = session.token();
  const answer = `a${question}-${token}`;
  const about = { thread, token, graph: "asks", mode: "resume", answer, named };
  const { operation } = await session.operation("run.create", about, async (client, op) => {
    const { run_id } = await client.runs.create(thread, "asks", {
      command: { resume: named ? { [interrupt]: answer } : answer },
      metadata: { token },
    });
    session.accept(op, run_id);
  });
  return operation.outcome;
}

/** Waits until the thread asks this question, or a later one. */
async function untilAsked(session: Session, thread: string, question: number): Promise<Pending | undefined> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline && !session.isStopping) {
    const state = await session.read((client) => client.threads.getState(thread));
    const interrupt = state?.tasks?.[0]?.interrupts[0] as { id?: string; value?: { question?: number } } | undefined;
    if (interrupt?.id !== undefined && interrupt.value?.question === question)
      return { question, interrupt: interrupt.id };
    await sleep(250);
  }
  return undefined;
}
