import { setTimeout as sleep } from "node:timers/promises";

import type { Session } from "./session.ts";
import { deleteThread } from "./turns.ts";

/** Length of a step that only a cancel ends early: one minute. */
const LONG_STEP_MS = 60_000;

/**
 * Cancels a long run, often with another queued behind it, while it is pending, just claimed or running; sometimes
 * deletes its thread instead.
 */
export async function cancelled(session: Session): Promise<void> {
  const thread = await session.createThread();
  if (thread === undefined) return;
  const runs = [];
  for (let n = session.between(1, 2); n > 0; n--) runs.push(await longRun(session, thread));
  await sleep(session.pick([0, 50, 300, 1500, 3000]));
  if (session.chance(0.15)) return deleteThread(session, thread);
  for (const run of runs.toReversed()) if (run !== undefined) await cancel(session, thread, run);
  // a run created without an answer would occupy its thread for a minute
  if (runs.includes(undefined)) await deleteThread(session, thread);
}

async function longRun(session: Session, thread: string): Promise<string | undefined> {
  const token = session.token();
  const job = { token, steps: 1, pause: LONG_STEP_MS, frames: 3 };
  const about = { thread, token, steps: 1, graph: "steps", mode: "create", strategy: "enqueue" };
  const { operation } = await session.operation("run.create", about, async (client, op) => {
    const { run_id } = await client.runs.create(thread, "steps", { input: { job }, metadata: { token } });
    session.accept(op, run_id);
  });
  return operation.run;
}

async function cancel(session: Session, thread: string, run: string): Promise<void> {
  const action = session.pick(["interrupt", "rollback"] as const);
  const isWaiting = session.chance(0.3);
  await session.untilKnown("run.cancel", { thread, run, action }, (client) =>
    client.runs.cancel(thread, run, isWaiting, action),
  );
}
