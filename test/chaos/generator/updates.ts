import type { Session } from "./session.ts";

/** Alternates runs and state updates on one thread. */
export async function updated(session: Session): Promise<void> {
  const thread = await session.createThread();
  if (thread === undefined) return;
  for (let n = session.between(2, 5); n > 0 && !session.isStopping; n--) {
    const token = session.token();
    const steps = session.between(1, 2);
    const about = { thread, token, steps, graph: "steps", mode: "create", strategy: "enqueue" };
    const { operation } = await session.operation("run.create", about, async (client, op) => {
      const job = { token, steps, pause: 50, frames: 0 };
      const { run_id } = await client.runs.create(thread, "steps", { input: { job }, metadata: { token } });
      session.accept(op, run_id);
    });
    if (operation.run === undefined) continue;
    await untilIdle(session, thread, operation.run);
    const update = `update-${session.token()}`;
    await session.operation("state.update", { thread, token: update }, (client) =>
      client.threads.updateState(thread, {
        values: { done: [`${update}/1`], pages: [`${update}/1 page`] },
        asNode: "work",
      }),
    );
  }
}

async function untilIdle(session: Session, thread: string, run: string): Promise<void> {
  for (let tries = 0; tries < 60 && !session.isStopping; tries++) {
    const row = await session.read((client) => client.runs.get(thread, run));
    if (row === undefined || (row.status !== "pending" && row.status !== "running")) return;
    await session.pause(200, 400);
  }
}
