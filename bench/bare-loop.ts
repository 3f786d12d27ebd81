// The graph without a server, in a separate process: the lower bound for all servers. Prints JSON; with the argument
// `rounds` it instead answers messages {runs, clients} of its parent, for measurements by turns.
import { MemorySaver } from "@langchain/langgraph";

import { graph } from "./project/echo.ts";
import { median, percentile } from "./statistics.ts";

const saved = Object.assign(Object.create(Object.getPrototypeOf(graph) as object), graph, {
  checkpointer: new MemorySaver(),
}) as typeof graph;

/** Median in milliseconds and rate of a round. With several clients, as many invocations are in flight. */
export interface BareRound {
  median: number;
  perSecond: number;
}

async function round(target: typeof graph, runs: number, clients: number): Promise<BareRound> {
  const times: number[] = [];
  let left = runs;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left-- > 0) {
        const from = performance.now();
        await target.invoke({ text: "hello" }, { configurable: { thread_id: crypto.randomUUID() } });
        times.push(performance.now() - from);
      }
    }),
  );
  return { median: median(times), perSecond: (runs * 1000) / (performance.now() - started) };
}

async function measure(target: typeof graph, runs: number) {
  const invoke = () => target.invoke({ text: "hello" }, { configurable: { thread_id: crypto.randomUUID() } });
  for (let n = 0; n < 100; n++) await invoke();
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let n = 0; n < runs; n++) {
    const started = performance.now();
    await invoke();
    times.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(before);
  const started = performance.now();
  let left = runs;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left-- > 0) await invoke();
    }),
  );
  return {
    median: median(times),
    p95: percentile(times, 0.95),
    /** Milliseconds per run. */
    cpu: (user + system) / 1000 / runs,
    perSecond: (runs * 1000) / (performance.now() - started),
  };
}

if (process.argv[2] === "rounds") {
  process.on("message", (asked: { runs: number; clients: number }) => {
    void round(saved, asked.runs, asked.clients).then((answer) => process.send?.(answer));
  });
} else {
  const runs = Number(process.argv[2] ?? 1000);
  console.log(JSON.stringify({ bare: await measure(graph, runs), memory: await measure(saved, runs) }));
}
