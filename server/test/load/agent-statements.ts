/** Statements of agent servers on one database, called as the servers call them, with the pools of one. */
import { CheckpointDatabase } from "../../../graph-host/src/checkpoints/checkpoint-database.ts";
import { selectDueCrons, fireCron, searchCrons, selectNextDueCron } from "../../src/agent/crons/sql.ts";
import { countTasks, selectTasks } from "../../src/agent/a2a/sql.ts";
import { expireThreads } from "../../src/agent/housekeeping/expire-threads.ts";
import { selectExpiredThreads } from "../../src/agent/housekeeping/sql.ts";
import { stampThreads } from "../../src/agent/housekeeping/stamp-threads.ts";
import { deleteOldKeys } from "../../src/agent/idempotency/sql.ts";
import { selectCounts, selectWaiting } from "../../src/agent/queue-status/sql.ts";
import {
  claimRuns,
  claimShare,
  createRuns,
  finishRuns,
  type NewRun,
  selectNextDue,
  selectOrphans,
  selectRun,
  selectRuns,
  selectRunState,
} from "../../src/agent/runs/sql.ts";
import { beat, upsertServer } from "../../src/agent/servers/sql.ts";
import { agentOptions } from "../../src/agent/settings.ts";
import { openStores } from "../../src/agent/start/open-stores.ts";
import { selectUnendedStreams, sweepStreams } from "../../src/agent/streams/sql.ts";
import { selectQueueDepth } from "../../src/agent/system/sql.ts";
import {
  deleteThreadRows,
  findThread,
  insertThread,
  searchThreads,
  selectStaleThreads,
  selectStateRow,
} from "../../src/agent/threads/sql.ts";
import { readOptions } from "../../src/base/config/options.ts";
import type { DatabaseAddress, Sql } from "../../src/base/db/connect.ts";
import { migrateDatabase } from "../../src/base/db/migrate.ts";
import { uuid7 } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { Started } from "../../src/base/started.ts";

export interface Statement {
  name: string;
  /** It reads rows that no statement has read lately. */
  isCold?: boolean;
  /** Called before each call of `work`; not measured. */
  prepare?(): Promise<unknown>;
  work(): Promise<unknown>;
  /** Called after it; not measured. */
  settle?(): Promise<unknown>;
}

export interface AgentStatements {
  sql: Sql;
  statements: Statement[];
  close(): Promise<void>;
}

export const migrateAt = (database: DatabaseAddress): Promise<unknown> => migrateDatabase(database);

const QUEUED = 10;
const STATE = '{"values":{},"next":[],"interrupts":{}}';
const PAGE = { limit: 10, offset: 0 };

/** @param ids a recent thread, run and user of the database, and any thread */
export async function agentStatements(
  database: DatabaseAddress,
  assistantId: string,
  ids: { thread(): string; run(): string; user(): string; oldThread(): string },
): Promise<AgentStatements> {
  const started = new Started();
  const settings = readOptions(agentOptions, {});
  const stores = await openStores({ database, settings, log: createLog("error") }, () => undefined, started);
  const checkpoints = new CheckpointDatabase(database.uri, { socket: database.socket });
  started.add(() => checkpoints.close());
  const { sql, hotSql, leaseSql } = stores;
  const serverId = uuid7();
  const server = { serverId, hostName: "here", process: "null", internalUrl: "", graphs: ["agent"], slots: 100 };
  await upsertServer(sql, { ...server, instanceId: null });

  let runs: NewRun[] = [];
  const newRun = (threadId: string, claim: boolean): NewRun => ({
    ...{ runId: uuid7(), threadId, assistantId, kwargs: '{"input":{"messages":[]}}', metadata: "{}" },
    ...{ strategy: "enqueue", createThread: true, afterSeconds: 0, temporary: false, describe: true, serverId, claim },
  });
  const create = () => createRuns(hotSql, runs, false);
  const plan = (count: number, claim: boolean, thread = ids.thread) => {
    const threads = new Set(Array.from({ length: count }, thread));
    runs = [...threads].sort().map((id) => newRun(id, claim));
  };
  const finish = () =>
    finishRuns(
      hotSql,
      runs.map(({ runId, threadId }) => ({
        runId,
        threadId,
        attempt: 1,
        outcome: "success",
        error: null,
        state: STATE,
      })),
      false,
    );
  const claimAndFinish = async () => {
    await claimRuns(leaseSql, serverId, QUEUED);
    await finish();
  };
  const expiring = uuid7();
  const cronId = uuid7();
  await sql`insert into crons (cron_id, assistant_id, schedule) values (${cronId}, ${assistantId}, '0 * * * *')`;
  const makeDue = () =>
    sql`update crons set enabled = true, next_run_date = '2020-01-01T00:00:00Z' where cron_id = ${cronId}`;
  const firing = () => ({ runId: uuid7(), threadId: uuid7() });
  let fired = firing();

  const state = async (threadId: string) => {
    await selectStateRow(sql, threadId);
    await checkpoints.read({ threadId, ns: "", limit: 1 });
  };

  const statements: Statement[] = [
    {
      name: "accept and start a run of a thread",
      prepare: async () => plan(1, true),
      work: create,
      settle: finish,
    },
    {
      name: "accept and start a run of a new thread",
      prepare: async () => plan(1, true, uuid7),
      work: create,
      settle: finish,
    },
    {
      name: `claim ${QUEUED} runs`,
      prepare: async () => (plan(QUEUED, false), create()),
      work: () => claimRuns(leaseSql, serverId, QUEUED),
      settle: finish,
    },
    {
      name: "claim of a share, nothing pending",
      work: () => claimShare(leaseSql, serverId, QUEUED, 500),
    },
    {
      name: "next due run",
      work: () => selectNextDue(sql),
    },
    {
      name: "end a run",
      prepare: async () => (plan(1, true), create()),
      work: finish,
    },
    {
      name: "state: the row and the newest checkpoint",
      work: () => state(ids.thread()),
    },
    { name: "state of any thread", isCold: true, work: () => state(ids.oldThread()) },
    { name: "runs of any thread", isCold: true, work: () => selectRuns(sql, ids.oldThread(), PAGE) },
    { name: "history of 10", work: () => checkpoints.read({ threadId: ids.thread(), ns: "", limit: 10 }) },
    { name: "a thread", work: () => findThread(sql, ids.thread()) },
    { name: "a run", work: () => selectRun(sql, null, ids.run()) },
    { name: "a run's state", work: () => selectRunState(sql, null, ids.run()) },
    { name: "runs of a thread", work: () => selectRuns(sql, ids.thread(), PAGE) },
    { name: "failed runs of a thread", work: () => selectRuns(sql, ids.thread(), { ...PAGE, status: "error" }) },
    { name: "threads, newest", work: () => searchThreads(sql, { ...PAGE }) },
    { name: "threads, last updated", work: () => searchThreads(sql, { ...PAGE, sort_by: "updated_at" }) },
    { name: "threads of a user", work: () => searchThreads(sql, { ...PAGE, metadata: { user: ids.user() } }) },
    { name: "threads of a graph", work: () => searchThreads(sql, { ...PAGE, metadata: { graph_id: "agent" } }) },
    {
      name: "threads of a user by status",
      work: () => searchThreads(sql, { ...PAGE, metadata: { user: ids.user() }, status: "idle" }),
    },
    { name: "interrupted threads", work: () => searchThreads(sql, { ...PAGE, status: "interrupted" }) },
    { name: "crons, newest", work: () => searchCrons(sql, { ...PAGE }, []) },
    { name: "crons of an owner", work: () => searchCrons(sql, { ...PAGE, metadata: { owner: ids.user() } }, []) },
    {
      name: "tick of crons, nothing due",
      work: () => Promise.all([selectDueCrons(sql, 100), selectNextDueCron(sql)]),
    },
    {
      name: "fire a cron",
      prepare: async () => ((fired = firing()), makeDue()),
      work: async () => {
        const [due] = await selectDueCrons(sql, 100);
        await fireCron(sql, {
          ...{ cronId, due: due!.due_text, next: null, start: true, skipWaiting: false, ...fired, assistantId },
          ...{ kwargs: "{}", metadata: "{}", strategy: "enqueue", temporary: false },
        });
      },
      settle: async () => {
        runs = [newRun(fired.threadId, false)];
        runs[0]!.runId = fired.runId;
        await claimAndFinish();
      },
    },
    { name: "heartbeat", work: () => beat(leaseSql, serverId) },
    { name: "runs of lost servers", work: () => selectOrphans(sql) },
    { name: "queue: metrics", work: () => selectQueueDepth(sql) },
    {
      name: "queue: page of the console",
      work: () => Promise.all([selectCounts(sql, []), selectWaiting(sql, { limit: 100 }, [])]),
    },
    { name: "sweep: default time to live", work: () => stampThreads(sql, 1000) },
    { name: "sweep: expired threads, none", work: () => selectExpiredThreads(sql, 1000) },
    {
      name: "sweep: an expired thread",
      prepare: async () => {
        await insertThread(sql, expiring, {}, { strategy: "delete", minutes: 1 });
        await sql`update threads set expires_at = now() - interval '1 hour' where thread_id = ${expiring}`;
      },
      work: () => expireThreads(sql, 1000),
    },
    {
      name: "sweep: stored streams",
      work: async () => {
        await selectUnendedStreams(sql);
        await sweepStreams(sql, 120);
      },
    },
    { name: "sweep: stale threads", work: () => selectStaleThreads(sql, 5000) },
    { name: "sweep: idempotency keys", work: () => deleteOldKeys(sql, 24, 1000) },
    {
      name: "delete a thread with a run",
      prepare: async () => {
        plan(1, true, () => expiring);
        await create();
        await finish();
      },
      work: () => deleteThreadRows(sql, expiring),
    },
    {
      name: "tasks of A2A, first page",
      work: async () => {
        const search = { assistantId, contextId: undefined, status: undefined, sees: [] };
        await Promise.all([selectTasks(sql, search, PAGE), countTasks(sql, search)]);
      },
    },
  ];
  return { sql, statements, close: () => started.stop() };
}
