/**
 * npm run bench -- large-values [--only text|image|items]: a channel value of 20 MB, a message with an image of 5 MB, and
 * a list of 5,000 items: a waited run, a streamed run, the state, ten states of the history and the thread, each on a
 * fresh server. Prints the time of each step and what it adds at its peak to the idle memory of the largest graph host,
 * of the server and of Postgres (private memory of all of its processes). Exits with 1 when a target is missed. Linux only.
 */
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { AgentClient } from "./client.ts";
import { descendants } from "./processes.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";

const { values: options } = parseArgs({ args: process.argv.slice(3), options: { only: { type: "string" } } });

interface Memory {
  host: number;
  server: number;
  postgres: number;
}

/** Most MB that each kind may add to what the idle processes have; docs/production.md states them. */
const KINDS: Record<string, { size: number; limits: Memory }> = {
  text: { size: 20e6, limits: { host: 400, server: 200, postgres: 250 } },
  image: { size: 5e6, limits: { host: 300, server: 120, postgres: 150 } },
  items: { size: 5000, limits: { host: 50, server: 50, postgres: 50 } },
};
const SAMPLE_MS = 10;

/** Returns a field of `/proc/PID/status` in MB; 0 for a process that has ended. */
function statusOf(pid: number, field: "VmRSS" | "RssAnon"): number {
  try {
    return (
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024
    );
  } catch {
    return 0;
  }
}

/** Samples memory until `stop`, which returns the peaks. */
function watch(server: number, postmaster: number): { stop(): Memory } {
  const peaks: Memory = { host: 0, server: 0, postgres: 0 };
  const sample = () => {
    const postgres = [postmaster, ...childrenOf(postmaster)];
    const hosts = childrenOf(server).filter((pid) => pid !== postmaster);
    peaks.host = Math.max(peaks.host, ...hosts.map((pid) => statusOf(pid, "VmRSS")));
    peaks.server = Math.max(peaks.server, statusOf(server, "VmRSS"));
    peaks.postgres = Math.max(
      peaks.postgres,
      postgres.reduce((sum, pid) => sum + statusOf(pid, "RssAnon"), 0),
    );
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return peaks;
    },
  };
}

/** Returns the children of a process, without starting another one, for frequent sampling. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

async function measureKind(kind: string, { size, limits }: (typeof KINDS)[string]): Promise<void> {
  const directory = await temporaryDirectory();
  const server = await startHeddle(directory);
  const client = new AgentClient(server.url);
  let memory: ReturnType<typeof watch> | undefined;
  try {
    const warm = await client.newThread();
    for (let n = 0; n < 50; n++) await client.echo(warm);
    const file = readFileSync(join(directory, "data/postgres/data/postmaster.pid"), "utf8");
    const postmaster = Number(file.split("\n")[0]);
    if (!descendants([server.pid!]).has(postmaster)) console.log("  Postgres is not below the server's process");
    const idle = watch(server.pid!, postmaster).stop();
    memory = watch(server.pid!, postmaster);
    const thread = await client.newThread();
    const body = { assistant_id: "large", input: { make: kind, size } };
    const steps: Record<string, () => Promise<unknown>> = {
      "waited run": () => client.text(`/threads/${thread}/runs/wait`, body),
      "streamed run": () =>
        client.text(`/threads/${thread}/runs/stream`, { ...body, stream_mode: ["values", "updates"] }),
      state: () => client.text(`/threads/${thread}/state`),
      "history of 10": () => client.text(`/threads/${thread}/history?limit=10`),
      thread: () => client.text(`/threads/${thread}`),
    };
    const times: string[] = [];
    const least = kind === "items" ? size * 20 : size;
    for (const [name, step] of Object.entries(steps)) {
      const started = performance.now();
      const answer = String(await step());
      if (answer.length < least) throw new Error(`${name}: the answer lacks the value: ${answer.slice(0, 1000)}`);
      times.push(`${name} ${(performance.now() - started).toFixed(0)} ms`);
    }
    const peaks = memory.stop();
    console.log(`${kind}, ${size}: ${times.join(", ")}; load ${loadavg()[0]!.toFixed(1)}`);
    for (const part of ["host", "server", "postgres"] as const) {
      const added = peaks[part] - idle[part];
      const isMet = added <= limits[part];
      if (!isMet) process.exitCode = 1;
      console.log(
        `  ${part.padEnd(9)} ${added.toFixed(0)} MB added to ${idle[part].toFixed(0)} MB ` +
          `(<= ${limits[part]} MB: ${isMet ? "PASS" : "FAIL"})`,
      );
    }
  } finally {
    memory?.stop();
    await client.close();
    await server.stop();
    await removeDirectory(directory);
  }
}

for (const [kind, sizes] of Object.entries(KINDS)) {
  if (!options.only || options.only === kind) await measureKind(kind, sizes);
}
