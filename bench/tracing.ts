/** npm run bench -- tracing: CPU time of a graph host for a trivial run, with and without its trace. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { HostProcess } from "../graph-host/test/host-process.ts";

const RUNS = 600;
const AT_ONCE = 10;
/** Clock ticks of /proc are hundredths of a second on every Linux that Node runs on. */
const TICK_MS = 10;

let bytes = 0;
const sink = createServer((request, response) => {
  request.on("data", (chunk: Buffer) => (bytes += chunk.length));
  request.on("end", () => response.writeHead(202).end());
});
await new Promise<void>((listening) => sink.listen(0, "127.0.0.1", listening));
const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;

const measured: Record<"without" | "with", number[]> = { without: [], with: [] };
for (const mode of ["without", "with", "without", "with"] as const) {
  const host = await HostProcess.start("agents", { echo: "./echo.ts:graph" });
  if (mode === "with") host.send({ t: "trace.to", to: { state: "on", url, key: null } });
  const run = async (count: number) => {
    for (let done = 0; done < count; done += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => host.run("echo", { input: { messages: "hi" } })));
    }
    // the client batches for a quarter of a second
    await sleep(1000);
  };
  await run(RUNS / 2);
  bytes = 0;
  const before = processorTime(host.child.pid!);
  await run(RUNS);
  const ms = (processorTime(host.child.pid!) - before) / RUNS;
  measured[mode].push(ms);
  console.log(`${mode.padEnd(8)} ${ms.toFixed(2)} ms of CPU time per run, ${Math.round(bytes / RUNS)} bytes sent`);
  await host.stop();
}
sink.close();
const [without, traced] = [Math.min(...measured.without), Math.min(...measured.with)];
console.log(`a trace costs ${(traced - without).toFixed(2)} ms, ${(traced / without).toFixed(1)} times the run alone`);

/** Returns user and system time of the process in milliseconds. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
