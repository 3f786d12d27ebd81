// The cost of keeping checkpoints, without a server: one echo graph over no checkpointer, the library's memory, the
// official Postgres saver and Heddle's, in one process, a new thread per run. Rounds alternate, so that noise of the
// machine affects all alike.
//
//   node --import tsx bench/saver.ts [runs per round, default 300] [rounds, default 5]
//
// "host CPU" is that of this process alone: on a busy machine it is more telling than wall-clock time.
import { MemorySaver } from "@langchain/langgraph";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import postgres from "postgres";

import { CheckpointDatabase } from "../graph-host/src/checkpoints/checkpoint-database.ts";
import { HeddleSaver } from "../graph-host/src/checkpoints/heddle-saver.ts";
import { startsWithoutUserCode } from "../graph-host/src/checkpoints/start-step.ts";
import { echoGraph } from "../graph-host/src/checkpoints/test/graphs.ts";
import { officialSaver, startOwnPostgres } from "../graph-host/src/checkpoints/test/own-postgres.ts";
import { median } from "./statistics.ts";

const runs = Number(process.argv[2] ?? 300);
const rounds = Number(process.argv[3] ?? 5);
const CLIENTS = 16;

interface Contestant {
  name: string;
  run(threadId: string): Promise<unknown>;
}

const own = await startOwnPostgres();
try {
  const { uri, socket } = own;
  const sql = postgres(uri, { ...(socket && { host: socket }), max: 2, onnotice: () => {} });
  let statements = 0;
  const database = new CheckpointDatabase(uri, { socket, onStatement: () => statements++ });
  const official = officialSaver(uri, socket);

  const config = (threadId: string) => ({ configurable: { thread_id: threadId }, durability: "sync" as const });
  const over = (name: string, checkpointer: MemorySaver | PostgresSaver | undefined): Contestant => {
    const graph = echoGraph(checkpointer);
    return { name, run: (threadId) => graph.invoke({ last: "hello" }, config(threadId)) };
  };
  const template = echoGraph(undefined);
  const heddleSaver = (name: string, allAwaited: boolean): Contestant => ({
    name,
    async run(threadId) {
      const fence = { runId: threadId, attempt: 1 };
      const passiveStart = !allAwaited && startsWithoutUserCode(template);
      const saver = new HeddleSaver(database, { fence, freshThread: threadId, passiveStart });
      const graph = Object.assign(Object.create(Object.getPrototypeOf(template)), template, { checkpointer: saver });
      await (graph as typeof template).invoke({ last: "hello" }, config(threadId));
      await saver.flush();
    },
  });
  const contestants = [
    over("no checkpointer", undefined),
    over("memory", new MemorySaver()),
    over("official Postgres", official),
    heddleSaver("Heddle, every step awaited", true),
    heddleSaver("Heddle", false),
  ];

  const sequential = new Map<string, number[]>();
  const concurrent = new Map<string, number[]>();
  const cpu = new Map<string, number[]>();
  const perRun = new Map<string, number>();
  for (let round = 0; round <= rounds; round++) {
    for (const { name, run } of contestants) {
      const threads = await startRuns(sql, runs * 2);
      const times: number[] = [];
      for (const threadId of threads.splice(0, runs)) {
        const started = performance.now();
        await run(threadId);
        times.push(performance.now() - started);
      }
      statements = 0;
      const used = process.cpuUsage();
      const started = performance.now();
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          for (let threadId = threads.pop(); threadId; threadId = threads.pop()) await run(threadId);
        }),
      );
      const perSecond = (runs / (performance.now() - started)) * 1000;
      const { user, system } = process.cpuUsage(used);
      // the first round is a warm-up
      if (round === 0) continue;
      sequential.set(name, [...(sequential.get(name) ?? []), median(times)]);
      concurrent.set(name, [...(concurrent.get(name) ?? []), perSecond]);
      cpu.set(name, [...(cpu.get(name) ?? []), (user + system) / 1000 / runs]);
      if (statements > 0) perRun.set(name, statements / runs);
    }
  }

  const base = median(concurrent.get("official Postgres")!);
  const slowest = median(sequential.get("official Postgres")!);
  console.log(`echo graph, ${rounds} rounds of ${runs} runs; ratios to the official Postgres saver\n`);
  const head = ["one by one, ms", "ratio", `${CLIENTS} at once, runs/s`, "ratio", "host CPU, ms/run", "statements/run"];
  console.log(`${"".padEnd(28)}  ${head.join("  ")}`);
  for (const { name } of contestants) {
    const ms = median(sequential.get(name)!);
    const perSecond = median(concurrent.get(name)!);
    const cells = [
      ms.toFixed(2),
      `${(slowest / ms).toFixed(1)}x`,
      perSecond.toFixed(0),
      `${(perSecond / base).toFixed(1)}x`,
      median(cpu.get(name)!).toFixed(2),
      perRun.get(name)?.toFixed(2) ?? "",
    ];
    console.log(`${name.padEnd(28)}  ${cells.map((cell, i) => cell.padStart(head[i]!.length)).join("  ")}`);
  }
  await Promise.all([database.close(), official.end(), sql.end()]);
} finally {
  await own.stop();
}

/** Inserts running runs, as the fence requires; a run and its thread share an id. */
async function startRuns(sql: postgres.Sql, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  await sql`insert into threads (thread_id) select unnest(${ids}::uuid[])`;
  await sql`
    insert into runs (run_id, thread_id, assistant_id, status, attempt)
    select id, id, id, 'running', 1 from unnest(${ids}::uuid[]) as id`;
  return ids;
}
