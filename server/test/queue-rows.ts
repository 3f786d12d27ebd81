/**
 * Threads and runs as rows, without a server: for behaviour that Postgres implements (functions/runs.sql through
 * runs/sql.ts).
 */
import { randomUUID } from "node:crypto";

import { createRuns, finishRuns, type NewRun, selectRunState } from "../src/agent/runs/sql.ts";
import { testDatabase } from "./db.ts";

export type QueueRows = Awaited<ReturnType<typeof queueRows>>;

export async function queueRows() {
  const { sql, uri } = await testDatabase();
  const assistantId = randomUUID();
  const me = randomUUID();
  const runThreads = new Map<string, string>();
  await sql`insert into assistants (assistant_id, graph_id, name, config, context, metadata)
    values (${assistantId}, 'echo', 'echo', '{"configurable": {"model": "a", "level": 1}, "recursion_limit": 7}',
            '{"tone": "dry"}', '{"from_assistant": true, "shared": "assistant"}')`;
  await sql`insert into servers (server_id, host_name, process) values (${me}, 'here', 'null')`;

  async function newThread(metadata: object = {}, config: object = {}): Promise<string> {
    const id = randomUUID();
    await sql`insert into threads (thread_id, metadata, config) values (${id}, ${sql.json(metadata as never)}, ${sql.json(config as never)})`;
    return id;
  }

  const newRun = (threadId: string, options: Partial<NewRun> = {}): NewRun => ({
    runId: randomUUID(),
    threadId,
    assistantId,
    kwargs: "{}",
    metadata: "{}",
    strategy: "enqueue",
    createThread: false,
    afterSeconds: 0,
    temporary: false,
    describe: true,
    serverId: me,
    claim: false,
    ...options,
  });

  async function create(threadId: string, options: Partial<NewRun> = {}) {
    const run = newRun(threadId, options);
    runThreads.set(run.runId, threadId);
    const [created] = await createRuns(sql, [run]);
    return { ...created!, runId: run.runId, threadId };
  }

  const finish = async (
    runId: string,
    attempt = 1,
    outcome: "success" | "error" | "cancelled" = "success",
    state: object | null = null,
  ) =>
    (
      await finishRuns(
        sql,
        [
          {
            runId,
            threadId: runThreads.get(runId) ?? randomUUID(),
            attempt,
            outcome,
            error: outcome === "error" ? '{"error":"E","message":"m"}' : null,
            state: state && JSON.stringify(state),
          },
        ],
        false,
      )
    )[0]!;

  const thread = async (id: string) =>
    (
      await sql<{ status: string; values: unknown; interrupts: unknown; running_run_id: string | null }[]>`
    select status, values, interrupts, running_run_id from threads where thread_id = ${id}`
    )[0];

  const status = async (runId: string) => (await selectRunState(sql, null, runId))?.status;

  /** Writes the rows of a one-step run. */
  async function checkpoint(threadId: string, runId: string, id: string, version: string): Promise<void> {
    await sql`insert into checkpoints (thread_id, checkpoint_id, checkpoint, metadata)
    values (${threadId}, ${id}, ${sql.json({ channel_versions: { text: version } })}, ${sql.json({ run_id: runId })})`;
    await sql`insert into checkpoint_blobs (thread_id, channel, version, type, blob)
    values (${threadId}, 'text', ${version}, 'json', '\\x31') on conflict do nothing`;
    await sql`insert into checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, type, blob)
    values (${threadId}, ${id}, 't', 0, 'text', 'json', '\\x31')`;
  }

  const countRows = async (table: "checkpoints" | "checkpoint_blobs" | "checkpoint_writes", threadId: string) =>
    Number((await sql`select count(*) from ${sql(table)} where thread_id = ${threadId}`)[0]!["count"]);

  return {
    sql,
    uri,
    assistantId,
    me,
    newThread,
    newRun,
    create,
    finish,
    thread,
    status,
    checkpoint,
    countOf: countRows,
  };
}
