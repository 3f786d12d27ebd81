// The graph without a server, in a separate process: the lower bound for all servers. Prints JSON.
import { MemorySaver } from "@langchain/langgraph";

import { graph } from "./project/echo.ts";
import { median, percentile } from "./statistics.ts";

const runs = Number(process.argv[2] ?? 1000);
const saved = Object.assign(Object.create(Object.getPrototypeOf(graph) as object), graph, {
  checkpointer: new MemorySaver(),
}) as typeof graph;

async function measure(target: typeof graph) {
  const invoke = () => target.invoke({ text: "hello" }, { configurable: { thread_id: crypto.randomUUID() } });
  for (let n = 0; n < 100; n++) await invoke();
  const times: number[] = [];
  for (let n = 0; n < runs; n++) {
    const started = performance.now();
    await invoke();
    times.push(performance.now() - started);
  }
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
    perSecond: (runs * 1000) / (performance.now() - started),
  };
}

console.log(JSON.stringify({ bare: await measure(graph), memory: await measure(saved) }));
