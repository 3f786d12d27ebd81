import type { Session } from "./session.ts";

/** Creates crons that are due every minute; each occurrence must be found at the end. */
export async function makeCrons(session: Session, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const token = `cron-${session.token()}`;
    const job = { token, steps: 2, pause: 100, frames: 1 };
    await session.operation("cron.create", {}, async (client, op) => {
      const payload = { schedule: "* * * * *", input: { job }, metadata: { token }, onRunCompleted: "keep" as const };
      const { cron_id } = (await client.crons.create("steps", payload)) as unknown as { cron_id: string };
      op.cron = cron_id;
    });
  }
}
