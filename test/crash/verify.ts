import postgres from "postgres";

import { completedSteps, type LogLine, readLog, violations } from "./check-log.ts";
import type { AcknowledgedThread, Ledger } from "./ledger.ts";
import { LoadClient } from "./load-client.ts";

const SETTLE_MS = 45_000;
const AT_ONCE = 16;

interface ThreadAnswer {
  status: string;
  values: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
}

/** Returns everything that is wrong after the storm, as sentences; empty when all guarantees held. */
export async function verify(url: string, databaseUri: string, stepLog: string, ledger: Ledger): Promise<string[]> {
  const found = [...ledger.wrong];
  const client = new LoadClient(url, ledger);
  const sql = postgres(databaseUri, { max: 1, onnotice: () => {} });
  try {
    found.push(...(await unsettled(sql)));
    const lines = await readLog(stepLog);
    found.push(
      ...violations(lines),
      ...(await checkRuns(client, ledger, lines)),
      ...(await checkThreads(client, ledger)),
    );
    found.push(...(await checkTables(sql)));
  } finally {
    await sql.end({ timeout: 2 });
    await client.close();
  }
  return found;
}

/** Waits until no run is pending or running; reports runs that remain after the limit. */
async function unsettled(sql: postgres.Sql): Promise<string[]> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    // the last kill may have hit Postgres, which is then still recovering
    const left = await unfinishedRuns(sql).catch((error: Error) => [{ database: error.message }]);
    if (left.length === 0) return [];
    if (Date.now() > deadline) return left.map((run) => `not final after ${SETTLE_MS} ms: ${JSON.stringify(run)}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

const unfinishedRuns = (sql: postgres.Sql): Promise<object[]> => sql`
  select run_id, status, attempt, failures from runs where status in ('pending', 'running')`;

async function checkRuns(client: LoadClient, ledger: Ledger, lines: LogLine[]): Promise<string[]> {
  const found: string[] = [];
  const byRun = groupByRun(lines);
  await forEachConcurrently([...ledger.runs.values()], async ({ runId, threadId, graph, steps, stateless }) => {
    const missing = steps.filter((step) => !completedSteps(byRun.get(runId) ?? [], runId).includes(step));
    if (missing.length > 0) found.push(`${graph} run ${runId}: the step log has no end of ${missing.join(", ")}`);
    if (stateless) return;
    const run = await client
      .patiently<{ status: string; error?: { message?: string } | null }>("GET", `/threads/${threadId}/runs/${runId}`)
      .catch(asError);
    if (run instanceof Error) found.push(`acknowledged ${graph} run ${runId} is gone: ${run.message}`);
    else if (run.status !== "success")
      found.push(`${graph} run ${runId} ended as ${run.status}: ${run.error?.message}`);
  });
  return found;
}

function groupByRun(lines: LogLine[]): Map<string, LogLine[]> {
  const groups = new Map<string, LogLine[]>();
  for (const line of lines) {
    const group = groups.get(line.run);
    if (group) group.push(line);
    else groups.set(line.run, [line]);
  }
  return groups;
}

async function checkThreads(client: LoadClient, ledger: Ledger): Promise<string[]> {
  const found: string[] = [];
  await forEachConcurrently([...ledger.threads.values()], async ({ threadId, tag, check }: AcknowledgedThread) => {
    const thread = await client.patiently<ThreadAnswer>("GET", `/threads/${threadId}`).catch(asError);
    if (thread instanceof Error) found.push(`acknowledged thread ${threadId} is gone: ${thread.message}`);
    else if (thread.metadata["tag"] !== tag)
      found.push(`thread ${threadId} lost its metadata: ${JSON.stringify(thread.metadata)}`);
    else {
      const problem = check(thread);
      if (problem) found.push(`thread ${threadId} ${problem}`);
    }
  });
  return found;
}

/** Checks the invariants of the tables while no run executes. */
async function checkTables(sql: postgres.Sql): Promise<string[]> {
  const found: string[] = [];
  const claim = async (what: string, rows: Promise<readonly object[]>) => {
    const wrong = await rows;
    if (wrong.length > 0) found.push(`${wrong.length} ${what}, such as ${JSON.stringify(wrong[0])}`);
  };
  await claim(
    "threads with a running run",
    sql`select thread_id, running_run_id from threads where running_run_id is not null`,
  );
  await claim("threads are busy with nothing", sql`select thread_id from threads where status = 'busy'`);
  await claim(
    "temporary runs were left behind",
    sql`select run_id, status from runs where (kwargs ->> 'temporary')::boolean`,
  );
  await claim(
    "checkpoints belong to no thread",
    sql`select c.thread_id from checkpoints c where not exists (select 1 from threads t where t.thread_id::text = c.thread_id) limit 5`,
  );
  await claim(
    "items of values belong to no thread, or to no list of it, or are not those of their list",
    sql`select i.thread_id, i.channel, count(*)::int, t.value_lists
        from thread_value_items i left join threads t on t.thread_id = i.thread_id
        group by 1, 2, t.value_lists
        having (count(*) = (t.value_lists ->> i.channel)::int and max(position) = count(*) - 1) is not true`,
  );
  // a run has one chain of checkpoints: two with the same parent mean that two workers wrote
  await claim(
    "checkpoints of a run have the same parent",
    sql`select thread_id, metadata ->> 'run_id' as run_id, parent_checkpoint_id, count(*) from checkpoints
        where checkpoint_ns = '' and parent_checkpoint_id is not null
        group by 1, 2, 3 having count(*) > 1`,
  );
  return found;
}

const asError = (error: unknown): Error => error as Error;

async function forEachConcurrently<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
