import { randomUUID } from "node:crypto";
import type { TestDatabase } from "../../server/test/db.ts";
import { HostProcess } from "./host-process.ts";

/** Starts a host with its own checkpoint database; each run has the row that the fence checks. */
export async function databaseHost(
  db: TestDatabase,
  graphs: Record<string, string>,
  env: Record<string, string> = {},
  fixture = "agents",
): Promise<HostProcess> {
  const host = await startOn(db, graphs, env, fixture);
  host.claim = async (run, attempt) => {
    await db.sql`insert into threads (thread_id) values (${run.threadId}) on conflict do nothing`;
    await claimRun(db, run.runId, run.threadId, attempt);
    void run.end.then(() => finishRun(db, run.runId)).catch(() => {});
  };
  return host;
}

export function startOn(
  db: TestDatabase,
  graphs: Record<string, string>,
  env: Record<string, string> = {},
  fixture = "agents",
): Promise<HostProcess> {
  return HostProcess.start(fixture, graphs, { HEDDLE_HOST_DATABASE: db.uri, ...env });
}

export async function claimRun(db: TestDatabase, runId: string, threadId: string, attempt: number): Promise<void> {
  await db.sql`
    update runs set status = 'success' where thread_id = ${threadId} and run_id <> ${runId} and status = 'running'`;
  await db.sql`
    insert into runs (run_id, thread_id, assistant_id, status, attempt)
    values (${runId}, ${threadId}, ${randomUUID()}, 'running', ${attempt})
    on conflict (run_id) do update set attempt = excluded.attempt, status = 'running'`;
}

export async function finishRun(db: TestDatabase, runId: string): Promise<void> {
  await db.sql`update runs set status = 'success' where run_id = ${runId}`;
}
