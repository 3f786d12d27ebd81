/**
 * npm run bench -- bloat: growth of tables and indexes of an agent server under load, which only vacuum bounds: runs are
 * created, claimed, checkpointed and ended by the server's own modules (as in `-- capacity`), and every eighth run begins a
 * thread. Afterwards the tables are rewritten, and their sizes compared. Options: --minutes N (60), --quick (2 minutes),
 * --clients N (8). Exits with 1 when all tables and indexes together are more than twice as large as rewritten ones, or an
 * index of the queue, which has rows for pending and running runs only, is above 8 MB.
 */
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import postgres from "postgres";

import { startOwnPostgres } from "../graph-host/src/checkpoints/test/own-postgres.ts";
import { carry } from "../server/test/load/simulated-servers.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    quick: { type: "boolean", default: false },
    minutes: { type: "string" },
    clients: { type: "string", default: "8" },
  },
});
const minutes = Number(options.minutes ?? (options.quick ? 2 : 60));
const SAMPLES = 10;
/** Tables and indexes below this size are a few pages in any case. */
const LEAST_BYTES = 2_000_000;
const MOST = 2;
const MOST_OF_QUEUE = 8_000_000;

interface Relation {
  name: string;
  bytes: number;
}

const own = await startOwnPostgres({});
const sql = postgres(own.uri, { max: 1, onnotice: () => {} });
const targets = new Targets();
try {
  console.log(
    `${minutes} minutes, ${cpus().length} cores, load before ${loadavg()[0]!.toFixed(1)}; ${options.clients} callers\n`,
  );
  console.log(
    `${"minute".padStart(7)} ${"runs".padStart(9)} ${"MB".padStart(8)} ${"bytes/run".padStart(10)} ${"dead rows".padStart(10)} ${"vacuums".padStart(8)}  indexes of the queue`,
  );
  let isDone = false;
  const load = { servers: 1, clients: Number(options.clients), warmUpRuns: 20, ms: minutes * 60_000 };
  const carried = carry({ uri: own.uri, socket: own.socket }, load, () => {}).finally(() => (isDone = true));
  carried.catch(() => {});
  const startedAt = performance.now();
  for (let n = 1; n <= SAMPLES && !isDone; n++) {
    await sleep(Math.max(0, startedAt + (n * load.ms) / SAMPLES - performance.now()));
    await sample((performance.now() - startedAt) / 60_000);
  }
  const { runs, ms } = await carried;
  console.log(`\n${runs.toLocaleString("en")} runs, ${((runs / ms) * 1000).toFixed(0)} per second`);
  const before = await relations();
  for (const { name } of await tables()) await sql.unsafe(`vacuum (full) ${name}`);
  const rewritten = new Map((await relations()).map(({ name, bytes }) => [name, bytes]));
  const large = before.filter(({ name, bytes }) => bytes >= LEAST_BYTES && rewritten.has(name));
  for (const relation of large.toSorted((a, b) => b.bytes - a.bytes))
    console.log(
      `  ${relation.name.padEnd(36)} ${(relation.bytes / 1e6).toFixed(1).padStart(8)} MB, rewritten ${(rewritten.get(relation.name)! / 1e6).toFixed(1)} MB`,
    );
  const sum = (sizes: Iterable<number>) => [...sizes].reduce((a, b) => a + b, 0);
  const all = sum(before.map(({ bytes }) => bytes)) / sum(rewritten.values());
  const largest = Math.max(...before.filter(isOfQueue).map(({ bytes }) => bytes));
  targets.report("largest index of the queue", `${(largest / 1e6).toFixed(1)} MB`, largest <= MOST_OF_QUEUE, "<= 8 MB");
  targets.report("all tables and indexes, relative to rewritten ones", all.toFixed(2), all <= MOST, `<= ${MOST}`);
} finally {
  await sql.end();
  await own.stop();
}
process.exitCode = targets.missed ? 1 : 0;

async function sample(minute: number): Promise<void> {
  const [row] = await sql<[{ runs: number; dead: number; vacuums: number; bytes: number }]>`
    select (select count(*) from runs)::float8 as runs, sum(n_dead_tup)::float8 as dead, sum(autovacuum_count)::float8 as vacuums,
      sum(pg_total_relation_size(relid))::float8 as bytes
    from pg_stat_user_tables where schemaname = current_schema()`;
  const queue = (await relations()).filter(isOfQueue);
  const { runs, dead, vacuums, bytes } = row;
  console.log(
    `${minute.toFixed(1).padStart(7)} ${String(runs).padStart(9)} ${(bytes / 1e6).toFixed(1).padStart(8)} ` +
      `${(bytes / runs).toFixed(0).padStart(10)} ${String(dead).padStart(10)} ${String(vacuums).padStart(8)}  ` +
      queue.map(({ name, bytes }) => `${name} ${(bytes / 1024).toFixed(0)} kB`).join(", "),
  );
}

function isOfQueue({ name }: Relation): boolean {
  return /^runs_(queue|inflight|one_running)/.test(name);
}

/** Tables and indexes, with what is stored apart of a table. */
function relations(): Promise<Relation[]> {
  return sql<Relation[]>`
    select relname as name, (case when relkind = 'r' then pg_table_size(oid) else pg_relation_size(oid) end)::float8 as bytes
    from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'i')`;
}

function tables(): Promise<{ name: string }[]> {
  return sql<{ name: string }[]>`
    select quote_ident(relname) as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'`;
}
