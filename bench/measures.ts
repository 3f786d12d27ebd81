import { setTimeout as sleep } from "node:timers/promises";

import type { AgentClient } from "./client.ts";
import { residentMemory } from "./processes.ts";
import { median, percentile } from "./statistics.ts";

const DRAIN_LIMIT_MS = 120_000;

/**
 * Measures milliseconds of sequential `POST /threads/{id}/runs/wait` calls: on one thread and on a new one each,
 * alternating. When measured one kind after the other, the first was slower by a fifth, because V8 keeps compiling for
 * the first thousand runs.
 */
export async function sequentialWait(client: AgentClient, runs: number) {
  const thread = await client.newThread();
  const times = { reused: [] as number[], fresh: [] as number[] };
  const timed = async (into: number[], on: string) => {
    const started = performance.now();
    await client.echo(on);
    into.push(performance.now() - started);
  };
  for (let n = 0; n < runs; n++) {
    await timed(times.reused, thread);
    await timed(times.fresh, await client.newThread());
  }
  return {
    "wait.reused.median": median(times.reused),
    "wait.reused.p95": percentile(times.reused, 0.95),
    "wait.fresh.median": median(times.fresh),
    "wait.fresh.p95": percentile(times.fresh, 0.95),
  };
}

/**
 * Measures runs per second of 16 clients in a closed loop. The thread is chosen before each run, within the measured
 * time.
 */
async function concurrentWaits(client: AgentClient, runs: number, threadFor: () => Promise<() => Promise<string>>) {
  const loops = await Promise.all(Array.from({ length: 16 }, threadFor));
  let left = runs;
  const started = performance.now();
  await Promise.all(
    loops.map(async (nextThread) => {
      while (left-- > 0) await client.echo(await nextThread());
    }),
  );
  return (runs * 1000) / (performance.now() - started);
}

/** Throughput with one thread per client. */
export const throughput = (client: AgentClient, runs: number): Promise<number> =>
  concurrentWaits(client, runs, async () => {
    const thread = await client.newThread();
    return async () => thread;
  });

/** Throughput with a new thread per run, including its creation. */
export const throughputFresh = (client: AgentClient, runs: number): Promise<number> =>
  concurrentWaits(client, runs, async () => () => client.newThread());

/** Measures the time from a stream's request to its first event, and to the first event caused by the graph. */
export async function firstFrame(client: AgentClient, runs: number) {
  const first: number[] = [];
  const ofGraph: number[] = [];
  const thread = await client.newThread();
  const body = { assistant_id: "echo", input: { text: "hello" }, stream_mode: ["values"] };
  for (let n = 0; n < runs; n++) {
    const started = performance.now();
    let frames = 0;
    let caused = 0;
    await client.stream(thread, body, ({ event, at }) => {
      if (frames++ === 0) first.push(at - started);
      if (event === "values" && caused++ === 0) ofGraph.push(at - started);
    });
    if (caused === 0) throw new Error("a stream of the echo graph brought no values");
  }
  return { "frame.first.median": median(first), "frame.values.median": median(ofGraph) };
}

/**
 * Runs `streams` concurrent streams, each writing `frames` custom frames, `pause` ms apart; throws when a frame is
 * missing.
 */
export async function manyStreams(client: AgentClient, streams: number, frames: number, pause: number) {
  const threads = await Promise.all(Array.from({ length: streams }, () => client.newThread()));
  const body = { assistant_id: "ticker", input: { frames, pause }, stream_mode: ["custom"] };
  const first: number[] = [];
  let last = 0;
  const started = performance.now();
  await Promise.all(
    threads.map(async (thread) => {
      let received = 0;
      let any = false;
      await client.stream(thread, body, ({ event, at }) => {
        if (!any) first.push(at - started);
        any = true;
        if (event !== "custom") return;
        received++;
        last = Math.max(last, at);
      });
      if (received !== frames) throw new Error(`a stream brought ${received} of ${frames} frames`);
    }),
  );
  return {
    "streams.frames": (streams * frames * 1000) / (last - started),
    "streams.first.p99": percentile(first, 0.99),
  };
}

/**
 * Measures background runs per second, from the first request that enqueues one until none is left: 16 clients enqueue
 * them, one per thread, while the server is already draining.
 */
export async function backlog(client: AgentClient, runs: number): Promise<number> {
  const batch = crypto.randomUUID();
  const threads: string[] = [];
  const inBatches = async (work: (n: number) => Promise<void>) => {
    let next = 0;
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (next < runs) await work(next++);
      }),
    );
  };
  await inBatches(async () => {
    threads.push((await client.post<{ thread_id: string }>("/threads", { metadata: { batch } })).thread_id);
  });
  const started = performance.now();
  await inBatches(async (n) => {
    await client.post(`/threads/${threads[n]}/runs`, { assistant_id: "echo", input: { text: "hello" } });
  });
  const unfinished = () => client.post<number>("/threads/count", { metadata: { batch }, status: "busy" });
  while ((await unfinished()) > 0) {
    if (performance.now() - started > DRAIN_LIMIT_MS) throw new Error("the queued runs were not drained");
    await sleep(20);
  }
  const perSecond = (runs * 1000) / (performance.now() - started);
  const [state] = await client.post<{ values?: { echo?: string } }[]>("/threads/search", {
    metadata: { batch },
    limit: 1,
  });
  if (state?.values?.echo !== "hello") throw new Error("a queued run left no values on its thread");
  return perSecond;
}

/**
 * Measures resident memory of the server process in MB after `runs` runs of 16 clients, and the growth during the
 * second half. `pid` is the server's own process, or the root of a tree whose largest process is the server.
 */
export async function memory(client: AgentClient, pid: number, runs: number, processFor: "own" | "largest") {
  await throughput(client, runs / 2);
  const half = residentMemory(pid);
  await throughput(client, runs / 2);
  const full = residentMemory(pid);
  const mb = (bytes: number) => bytes / 2 ** 20;
  return {
    "memory.server": mb(full[processFor]),
    "memory.growth": mb(full[processFor] - half[processFor]),
    "memory.tree": mb(full.tree),
  };
}
