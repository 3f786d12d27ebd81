/** Simulated servers on one Postgres, and what it does meanwhile. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { insertAssistant } from "../../src/agent/assistants/sql.ts";
import { connect, type DatabaseAddress, type Sql } from "../../src/base/db/connect.ts";
import { uuid7 } from "../../src/base/ids.ts";
import { type Durations, GRAPH, SimulatedServer } from "./simulated-server.ts";

export interface Load {
  servers: number;
  /** Callers that each send a run when the previous one has ended, over all servers. */
  clients: number;
  /** Runs of each server before the measured time: Postgres plans the functions once per connection. */
  warmUpRuns: number;
  ms: number;
}

export interface Carried extends Durations {
  runs: number;
  ms: number;
  /** Mean number of sessions in each kind of wait; `running`: on a processor, or ready for one. */
  sessions: Record<string, number>;
  connections: number;
  walFlushes: number;
  walBytes: number;
  /** Statements of the callers' pools, without those inside functions. */
  commits: number;
}

const SAMPLE_MS = 20;
/** Every fourth run has a stored stream, every fourth one is queued, and every eighth creates its thread. */
const EVERY = { resumable: 4, queued: 4, fresh: 8 };

/** Runs a load. `during` is called at the start and at the end of the measured time. */
export async function carry(
  database: DatabaseAddress,
  load: Load,
  during: (at: "start" | "end") => void,
): Promise<Carried> {
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-load-"));
  const watch = connect(database, { max: 1, name: "heddle watch" });
  const servers: SimulatedServer[] = [];
  try {
    const assistantId = uuid7();
    const blank = { description: null, config: {}, context: {}, metadata: {} };
    await insertAssistant(watch, { assistant_id: assistantId, graph_id: GRAPH, name: GRAPH, ...blank });
    for (let n = 0; n < load.servers; n++)
      servers.push(await new SimulatedServer().start(database, dataDir, assistantId));
    // so that all have seen each other
    await sleep(1500);
    let ended = 0;
    let stopped = false;
    let failure: Error | undefined;
    const clients = Array.from({ length: load.clients }, async (_, client) => {
      const server = servers[client % servers.length]!;
      let threadId = uuid7();
      for (let n = client; !stopped; n++) {
        if (n % EVERY.fresh === 0) threadId = uuid7();
        const kind = { resumable: n % EVERY.resumable === 1, queued: n % EVERY.queued === 2 };
        await server.run({ threadId, assistantId, ...kind }).catch((error: Error) => {
          failure ??= error;
          stopped = true;
        });
        ended += 1;
      }
    });
    while (!failure && servers.some(({ durations }) => durations.end.length < load.warmUpRuns)) await sleep(50);
    for (const { durations } of servers) for (const list of Object.values(durations)) list.length = 0;
    const before = await counters(watch);
    const [startedAt, first] = [performance.now(), ended];
    during("start");
    const samples: Record<string, number>[] = [];
    let connections = 0;
    while (performance.now() - startedAt < load.ms) {
      const sample = await sessions(watch);
      samples.push(sample.busy);
      connections = Math.max(connections, sample.connections);
      if (failure) throw failure;
      await sleep(SAMPLE_MS);
    }
    during("end");
    const [ms, runs] = [performance.now() - startedAt, ended - first];
    const after = await counters(watch);
    const all = (kind: keyof Durations) => servers.flatMap(({ durations }) => durations[kind]);
    const durations: Durations = { accept: all("accept"), claim: all("claim"), end: all("end") };
    stopped = true;
    await Promise.all(clients);
    if (failure) throw failure;
    const kinds = new Set(samples.flatMap((sample) => Object.keys(sample)));
    const mean = (kind: string) => samples.reduce((sum, sample) => sum + (sample[kind] ?? 0), 0) / samples.length;
    return {
      ...durations,
      ...{ runs, ms, connections },
      sessions: Object.fromEntries([...kinds].map((kind) => [kind, mean(kind)])),
      walFlushes: after.flushes - before.flushes,
      walBytes: after.bytes - before.bytes,
      commits: after.commits - before.commits,
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await watch.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function counters(sql: Sql): Promise<{ flushes: number; bytes: number; commits: number }> {
  // counters of a session reach the statistics after a second, or when it is idle
  await sleep(1100);
  const [row] = await sql<{ flushes: number; bytes: number; commits: number }[]>`
    select (select sum(fsyncs) from pg_stat_io where object = 'wal')::float8 as flushes,
           (select wal_bytes from pg_stat_wal)::float8 as bytes,
           (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits`;
  return row!;
}

async function sessions(sql: Sql): Promise<{ busy: Record<string, number>; connections: number }> {
  const rows = await sql<{ wait: string | null; active: boolean; n: number }[]>`
    select case when wait_event_type in ('Lock', 'LWLock', 'IO', 'IPC', 'BufferPin')
                then wait_event_type || ' ' || wait_event end as wait,
           state = 'active' as active, count(*)::int as n
    from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()
    group by 1, 2`;
  const busy: Record<string, number> = {};
  for (const { wait, active, n } of rows) if (active) busy[wait ?? "running"] = (busy[wait ?? "running"] ?? 0) + n;
  return { busy, connections: rows.reduce((sum, { n }) => sum + n, 0) };
}
