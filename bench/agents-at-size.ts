/**
 * npm run bench -- agents-at-size: statements of agent servers with 1,000,000 threads, 10,000,000 runs and 50,000 crons
 * in Postgres, against the same statements with 100 threads, by turns. Prints the ratio of the medians of each; a ratio
 * above 1.3 is missed, except where the difference is below 0.2 ms. Both sides use 100 threads, the newest ones; lines
 * without a target read any of them, from the disk or the system's cache. Options: --quick (20,000 threads), --data DIR (keeps
 * the seeded database there, for the next call), --threads N, --rounds N, --only TEXT, --json FILE.
 */
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import postgres from "postgres";

import { startOwnPostgres } from "../graph-host/src/checkpoints/test/own-postgres.ts";
import { agentStatements, type AgentStatements, migrateAt } from "../server/test/load/agent-statements.ts";
import { ASSISTANT, seedAgents, seededRun, seededThread, THREADS_PER_USER } from "./seed-agents.ts";
import { median, percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    quick: { type: "boolean", default: false },
    data: { type: "string" },
    threads: { type: "string" },
    rounds: { type: "string" },
    only: { type: "string" },
    json: { type: "string" },
  },
});
const threads = Number(options.threads ?? (options.quick ? 20_000 : 1_000_000));
const rounds = Number(options.rounds ?? (options.quick ? 30 : 60));
const RUNS_PER_THREAD = 10;
const SMALL = 100;
const MOST = 1.3;
/** Difference in milliseconds below which a ratio says nothing. */
const NOISE_MS = 0.2;
/** Time for one statement on both sides. */
const LIMIT_MS = 15_000;

const own = await startOwnPostgres({
  dataDir: options.data,
  settings: { max_connections: "200", max_wal_size: "8GB" },
});
const sides: { name: string; agents: AgentStatements }[] = [];
try {
  for (const [name, count] of [
    ["small", SMALL],
    ["large", threads],
  ] as const)
    sides.push({ name, agents: await prepare(name, count) });
  const [small, large] = sides as [(typeof sides)[0], (typeof sides)[0]];
  console.log(`load average ${loadavg()[0]!.toFixed(1)}; ${threads} threads, ${threads * RUNS_PER_THREAD} runs`);
  for (const table of await sizes(large.agents))
    console.log(`  ${table.name.padEnd(24)} ${mb(table.heap)} MB, indexes ${mb(table.indexes)} MB`);
  const targets = new Targets();
  const results: Record<string, object> = {};
  for (const [n, { name, isCold = false }] of small.agents.statements.entries()) {
    if (options.only && !name.includes(options.only)) continue;
    const times = [[], []] as [number[], number[]];
    const until = performance.now() + LIMIT_MS;
    for (let round = -5; round < rounds && (performance.now() < until || times[0].length < 3); round++) {
      for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const { prepare, work, settle } = sides[side]!.agents.statements[n]!;
        await prepare?.();
        const startedAt = performance.now();
        await work();
        const took = performance.now() - startedAt;
        await settle?.();
        if (round >= 0) times[side as 0 | 1].push(took);
      }
    }
    const [without, with_] = [median(times[0]), median(times[1])];
    const ratio = with_ / without;
    const shown = `${without.toFixed(2)} -> ${with_.toFixed(2)} ms (p95 ${percentile(times[1], 0.95).toFixed(1)})`;
    results[name] = { small: without, large: with_, ratio };
    const passes = isCold || ratio <= MOST || with_ - without < NOISE_MS;
    targets.report(`${name}: ${shown}`, ratio.toFixed(2), passes, isCold ? "none" : `<= ${MOST}`);
  }
  if (options.json) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
  process.exitCode = targets.missed ? 1 : 0;
} finally {
  await Promise.all(sides.map(({ agents }) => agents.close()));
  await own.stop();
}

/** Opens a database of the cluster, seeded unless it is. */
async function prepare(name: string, count: number): Promise<AgentStatements> {
  const admin = postgres(own.uri, { ...(own.socket && { host: own.socket }), max: 1, onnotice: () => {} });
  const address = new URL(own.uri);
  if (name === "small") {
    address.pathname = "/small";
    await admin`drop database if exists small with (force)`;
    await admin`create database small`;
  }
  await admin.end();
  await migrateAt({ uri: address.href, socket: own.socket });
  const sql = postgres(address.href, { ...(own.socket && { host: own.socket }), max: 1, onnotice: () => {} });
  const [found] = await sql<[{ seeded: boolean }]>`
    select exists (select 1 from assistants where assistant_id = ${ASSISTANT}) as seeded`;
  if (!found.seeded) {
    const startedAt = performance.now();
    const rows = { threads: count, runsPerThread: RUNS_PER_THREAD, crons: Math.ceil(count / 20) };
    await seedAgents(sql, rows, (text) => {
      if (count > SMALL) console.error(`${((performance.now() - startedAt) / 1000).toFixed(0)} s  ${text}`);
    });
  }
  await sql`insert into thread_ttl_default (strategy, minutes) values ('delete', 525600) on conflict do nothing`;
  await sql.end();
  return agentStatements({ uri: address.href, socket: own.socket }, ASSISTANT, {
    thread: () => seededThread(count - 1 - randomInt(SMALL)),
    run: () => seededRun((count - SMALL + randomInt(SMALL)) * RUNS_PER_THREAD),
    user: () => `user-${Math.ceil(count / THREADS_PER_USER) - 1}`,
    oldThread: () => seededThread(randomInt(count)),
  });
}

interface TableSize {
  name: string;
  heap: number;
  indexes: number;
}

async function sizes({ sql }: AgentStatements): Promise<TableSize[]> {
  return sql<TableSize[]>`
    select relname as name, pg_table_size(oid)::float8 as heap, pg_indexes_size(oid)::float8 as indexes
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_total_relation_size(oid) > 1e6
    order by 2 desc`;
}

function mb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
