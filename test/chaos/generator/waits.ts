import { setTimeout as sleep } from "node:timers/promises";

import { now } from "../now.ts";
import type { Session } from "./session.ts";
import { deleteThread } from "./turns.ts";

const PATIENCE_MS = 40_000;
const SIGNAL = "go";

/**
 * Runs a graph that waits several times: for a timer of up to three seconds, for a signal, or for both. Sends as many
 * signals as there are waits for one, one after another and some of them twice at once, from before the run on;
 * sometimes deletes the thread while it waits.
 */
export async function waiting(session: Session): Promise<void> {
  const thread = await session.createThread();
  if (thread === undefined) return;
  const token = session.token();
  const waits = Array.from({ length: session.between(1, 4) }, () => {
    const ms = session.between(0, 3000);
    return session.pick([{ ms }, { signal: SIGNAL }, { ms, signal: SIGNAL }]);
  });
  const signals = waits.filter(({ signal }) => signal !== undefined).length;
  const early = session.between(0, session.pick([0, signals]));
  await send(session, thread, 1, early);
  const offset = Date.now() - now();
  const about = { thread, token, graph: "waits", mode: "create", strategy: "enqueue", waits: waits.length, signals };
  const { operation } = await session.operation("run.create", about, async (client, op) => {
    const input = { job: { token, offset, waits } };
    const { run_id } = await client.runs.create(thread, "waits", { input, metadata: { token } });
    session.accept(op, run_id);
  });
  if (session.chance(0.1)) {
    await session.pause(0, 4000);
    return deleteThread(session, thread);
  }
  await send(session, thread, early + 1, signals);
  if (operation.outcome === "ok") await untilEnded(session, thread, waits.length);
}

/** Sends the signals from number `first` to `last`, also while the session stops: the thread waits for them. */
async function send(session: Session, thread: string, first: number, last: number): Promise<void> {
  for (let signal = first; signal <= last; signal++) {
    if (!session.isStopping) await session.pause(0, 2500);
    const once = () =>
      session.untilKnown("signal.send", { thread, signal }, async (_, op) => {
        const body = { payload: signal, key: `key-${signal}` };
        const { created } = await session.post<{ created: boolean }>(op, `/threads/${thread}/signals/${SIGNAL}`, body);
        op.created = created;
      });
    await Promise.all(session.chance(0.4) ? [once(), once()] : [once()]);
  }
}

async function untilEnded(session: Session, thread: string, waits: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline && !session.isStopping) {
    const state = await session.read((client) => client.threads.getState<{ ended?: string[] }>(thread));
    if (state === undefined || state.values?.ended?.length === waits) return;
    await sleep(500);
  }
}
