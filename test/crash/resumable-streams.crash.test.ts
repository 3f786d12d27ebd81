import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";

import { newInstallation, processes, ServerProcess } from "./server-process.ts";

/**
 * Two servers on one database, runs with resumable streams on both, and processes that are frozen as their runs end.
 * Each run is read live on both servers and once more afterwards; all readers must have read the same frames without a
 * gap, and a stream without an `incomplete` event must hold every frame of the attempt that finished.
 */
const LEASE_MS = 2500;
const FRAMES = 40;
const PAUSE_MS = 20;
const RUNS = 8;

const installation = newInstallation();
const env = {
  HEDDLE_LEASE_MS: String(LEASE_MS),
  HEDDLE_HOST_BLOCK_MS: "5000",
  HEDDLE_HOSTS: "1",
  HEDDLE_RUN_MAX_ATTEMPTS: "1000",
};
const first = await ServerProcess.create(installation, env);
const second = await ServerProcess.create(installation, env);
const servers = [first, second];
let frozen: number[] = [];

beforeAll(async () => {
  await first.start();
  await second.start();
});
afterEach(thaw);
afterAll(async () => {
  thaw();
  await second.stop();
  await first.stop();
  installation.remove();
});

function freeze(pids: number[]): void {
  frozen = pids;
  for (const pid of pids) process.kill(pid, "SIGSTOP");
}

function thaw(): void {
  for (const pid of frozen.splice(0).toReversed()) {
    try {
      process.kill(pid, "SIGCONT");
    } catch {
      // exited in the meantime
    }
  }
}

interface Frame {
  id: number;
  event: string;
  data: unknown;
}

interface Run {
  thread_id: string;
  run_id: string;
  status: string;
  stream_incomplete?: string;
  error?: { message: string };
}

const post = async <T>(url: string, body: unknown): Promise<T> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};

const runPath = ({ thread_id, run_id }: Run): string => `/threads/${thread_id}/runs/${run_id}`;

async function startRuns(resumable = true, on = servers): Promise<Run[]> {
  const start = async (n: number): Promise<Run> => {
    const { url } = on[n % on.length]!;
    const { thread_id } = await post<{ thread_id: string }>(`${url}/threads`, {});
    return post(`${url}/threads/${thread_id}/runs`, {
      assistant_id: "ticker",
      input: { frames: FRAMES, pause: PAUSE_MS },
      stream_mode: ["custom", "values"],
      stream_resumable: resumable,
    });
  };
  return Promise.all(Array.from({ length: RUNS }, (_, n) => start(n)));
}

/** Reads a stream to its clean end; resumes from the last id after a broken connection. */
async function read(server: ServerProcess, run: Run): Promise<Frame[]> {
  const frames: Frame[] = [];
  const deadline = Date.now() + 60_000;
  for (;;) {
    let rest = "";
    try {
      const headers = { "last-event-id": frames.length === 0 ? "-1" : String(frames.at(-1)!.id) };
      const response = await fetch(`${server.url}${runPath(run)}/stream`, { headers });
      if (!response.ok) throw new Error(String(response.status));
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const parts = (rest + chunk).split("\n\n");
        rest = parts.pop()!;
        for (const part of parts) if (!part.startsWith(":")) frames.push(parsed(part));
      }
      return frames;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

function parsed(text: string): Frame {
  const [, event, data, id] = /^event: (.*)\ndata: (.*)\nid: (\d+)$/.exec(text)!;
  return { id: Number(id), event: event!, data: JSON.parse(data!) };
}

async function untilFinal(run: Run): Promise<Run> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await fetch(`${second.url}${runPath(run)}`).catch(() => undefined);
    const row = answer?.ok ? ((await answer.json()) as Run) : undefined;
    if (row && row.status !== "pending" && row.status !== "running") return row;
    if (Date.now() > deadline) throw new Error(`run ${run.run_id} is still ${row?.status}`);
    await sleep(50);
  }
}

/** Returns the frames of the attempt that finished: those after the last `metadata`. */
function lastAttempt(frames: Frame[]): Frame[] {
  return frames.slice(frames.findLastIndex(({ event }) => event === "metadata"));
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const isGapless = (frames: Frame[]): boolean => frames.every(({ id }, i) => id === i);
const saysIncomplete = (frames: Frame[]): boolean => frames.some(({ event }) => event === "incomplete");

/** Whether an attempt's frames include everything its graph emitted. */
function isWhole(frames: Frame[]): boolean {
  const last = lastAttempt(frames);
  const ticks = last.filter(({ event }) => event === "custom").map(({ data }) => (data as { n: number }).n);
  const isEnd = (last.at(-1)!.data as { sent?: number }).sent === FRAMES;
  return (
    isEnd &&
    isSame(
      ticks,
      Array.from({ length: FRAMES }, (_, i) => i),
    )
  );
}

/** Describes the violations of runs whose frames are kept, and of their readers. */
async function violations(runs: Run[], live: Promise<Frame[]>[][]): Promise<string> {
  const found: string[] = [];
  let whole = 0;
  for (const [n, run] of runs.entries()) {
    const readers = await Promise.all([...live[n]!, read(first, run), read(second, run)]);
    // After the readers: a stream whose writer was lost ends later than its run, which is then marked incomplete.
    const row = await untilFinal(run);
    const reference = readers[0]!;
    const says = (what: string) => found.push(`${runPath(run)} ${what}`);
    if (row.status !== "success") says(`ended as ${row.status}: ${row.error?.message}`);
    if (!isGapless(reference)) says("has a gap in its ids");
    if (!readers.every((frames) => isSame(frames, reference))) says("was read differently");
    if (saysIncomplete(reference) !== (row.stream_incomplete !== undefined)) says("and its stream disagree");
    if (!saysIncomplete(reference) && !isWhole(reference)) says("ends as if it were whole");
    whole += saysIncomplete(reference) ? 0 : 1;
  }
  console.log(`${whole} of ${runs.length} stored streams are whole`);
  return found.join("\n");
}

/** Describes the violations of runs whose frames are not kept, read on the server that executed them. */
async function passingViolations(runs: Run[], live: Promise<Frame[]>[]): Promise<string> {
  const found: string[] = [];
  for (const [n, run] of runs.entries()) {
    const frames = await live[n]!;
    const row = await untilFinal(run);
    const says = (what: string) => found.push(`${runPath(run)} ${what}`);
    if (row.status !== "success") says(`ended as ${row.status}: ${row.error?.message}`);
    if (!isGapless(frames)) says("has a gap in its ids");
    if (saysIncomplete(frames) && row.stream_incomplete === undefined) says("does not say what its stream says");
    if (!saysIncomplete(frames) && !isWhole(frames)) says("ends as if it were whole");
  }
  return found.join("\n");
}

const readLive = (runs: Run[]): Promise<Frame[]>[][] => runs.map((run) => servers.map((server) => read(server, run)));
/** Sleeps until just before the runs end. */
const untilNearEnd = () => sleep(FRAMES * PAUSE_MS * 0.6);

test("a server frozen while its hosts finish runs gives readers all frames, or marks streams incomplete", async () => {
  const keptRuns = await startRuns();
  const passing = await startRuns(false, [first]);
  const live = readLive(keptRuns);
  const readers = passing.map((run) => read(first, run));
  await untilNearEnd();
  freeze([first.pid]);
  await sleep(LEASE_MS * 2.2);
  thaw();
  expect(await violations(keptRuns, live)).toBe("");
  expect(await passingViolations(passing, readers)).toBe("");
});

/** Resolves when no host is starting. */
const untilHostsReady = (server: ServerProcess) =>
  vi.waitUntil(
    async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      const ready = Number(/^heddle_graph_hosts\{state="ready"\} (\d+)$/m.exec(metrics)?.[1]);
      return ready > 0 && ready === server.hosts().length;
    },
    { timeout: 120_000, interval: 100 },
  );

test("runs whose frozen hosts were replaced by another server's keep all frames of their last attempt", async () => {
  // one that is frozen while it starts is only killed after the time that a start may take
  await Promise.all(servers.map(untilHostsReady));
  const runs = await startRuns();
  const live = readLive(runs);
  await untilNearEnd();
  const hosts = servers.flatMap((server) => server.hosts());
  freeze(hosts);
  // their servers kill hosts that do not even say what blocks them
  await vi.waitUntil(() => processes().every(({ pid }) => !hosts.includes(pid)), { timeout: 150_000, interval: 100 });
  expect(await violations(runs, live)).toBe("");
});

test("a database frozen as runs end loses no frame without marking the stream incomplete", async () => {
  const runs = await startRuns();
  const live = readLive(runs);
  await untilNearEnd();
  const postmaster = first.postmaster()!;
  freeze([
    postmaster,
    ...processes()
      .filter(({ parent }) => parent === postmaster)
      .map(({ pid }) => pid),
  ]);
  await sleep(LEASE_MS * 1.5);
  thaw();
  expect(await violations(runs, live)).toBe("");
});
