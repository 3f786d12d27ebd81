import { Client } from "langgraph-sdk-v1";
import type postgres from "postgres";

import { expandCheckpoints } from "../../server/src/admin/checkpoints.ts";
import type { ThreadView, World } from "./check/world.ts";
import type { Fleet } from "./fleet.ts";
import type { History } from "./history.ts";
import { now } from "./now.ts";
import { type OfficialSaver, openOfficialSaver } from "./official-saver.ts";
import { countRows, readCheckpoints, readKeptStreams, readLedger, readRuns } from "./read-tables.ts";

const AT_ONCE = 8;
/** Time for reading all threads. Later ones count as not answered: servers that answer nothing must not delay the verdict. */
const READ_MS = 180_000;

/** Reads the checker's input after all faults are over. */
export async function readWorld(fleet: Fleet, history: History, sql: postgres.Sql, settledAt?: number): Promise<World> {
  const { operations, faults, calms, health, exits, hooks } = history;
  const end = now();
  const ledger = readLedger(fleet.ledger);
  const runs = await readRuns(sql);
  const threads = await readThreads(fleet, history, sql);
  return {
    operations,
    faults,
    calms,
    health,
    exits,
    hooks,
    ledger,
    runs,
    threads,
    checkpoints: await readCheckpoints(sql),
    streams: await readKeptStreams(sql),
    end,
    ...(settledAt !== undefined && { settledAt }),
  };
}

async function readThreads(fleet: Fleet, history: History, sql: postgres.Sql): Promise<ThreadView[]> {
  const rows = await countRows(sql);
  const createdThreads = history.operations.flatMap((op) =>
    op.name === "thread.create" && op.outcome === "ok" ? [op.thread!] : [],
  );
  const ids = [...new Set([...createdThreads, ...rows.keys()])];
  const client = new Client({
    apiUrl: fleet.servers.api.url,
    apiKey: null,
    timeoutMs: 20_000,
    callerOptions: { maxRetries: 1 },
  });
  let changes = 0;
  await expandCheckpoints(
    { dataDir: "", databaseUri: fleet.postgres.uri() },
    undefined,
    (_, count) => (changes += count),
  );
  console.log(`${changes} versions of lists were stored as changes`);
  const saver = openOfficialSaver(fleet.language, fleet.postgres.uri());
  const views = await readInTime(
    ids,
    READ_MS,
    (thread) => readThread(client, saver, thread, rows.get(thread) ?? 0),
    (thread) => ({ thread, rows: rows.get(thread) ?? 0, answer: 0 }),
  );
  await saver.end();
  return views;
}

/** Reads a few at a time. Those not begun within `limitMs` get their view from `unread`. */
export async function readInTime<T>(
  ids: readonly string[],
  limitMs: number,
  read: (id: string) => Promise<T>,
  unread: (id: string) => T,
): Promise<T[]> {
  const deadline = now() + limitMs;
  const views: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < ids.length) {
      const id = ids[next++]!;
      views.push(now() < deadline ? await read(id) : unread(id));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return views;
}

interface Values {
  done?: string[];
  answers?: string[];
  ended?: string[];
}

async function readThread(client: Client, saver: OfficialSaver, thread: string, rows: number): Promise<ThreadView> {
  try {
    const [found, state, history, saved] = await Promise.all([
      client.threads.get<Values>(thread),
      client.threads.getState<Values>(thread),
      client.threads.getHistory<Values>(thread, { limit: 3 }),
      saver.head(thread).catch((error: Error) => ({ id: `none that it can read (${error.message})`, done: null })),
    ]);
    const checkpointId = (entry: typeof state) => entry.checkpoint?.checkpoint_id;
    return {
      thread,
      rows,
      answer: 200,
      status: found.status,
      head: checkpointId(state) ?? null,
      history: history.flatMap((entry) => checkpointId(entry) ?? []),
      saverHead: saved?.id ?? null,
      done: state.values?.done ?? [],
      answers: state.values?.answers ?? [],
      ended: state.values?.ended ?? [],
      saverDone: saved?.done ?? [],
      // written when a run ends: an interrupted run may not have updated it
      ...(found.status === "idle" && found.values?.done && { valuesDone: found.values.done }),
    };
  } catch (error) {
    const { status = 0 } = error as { status?: number };
    return { thread, rows, answer: status };
  }
}
