import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { type LogLine, readLog } from "./check-log.ts";
import { Ledger } from "./ledger.ts";
import { Load, stepRuns } from "./load.ts";
import { Unavailable } from "./load-client.ts";
import { machineFactor } from "./machine.ts";
import { newInstallation, ServerProcess } from "./server-process.ts";
import { verify } from "./verify.ts";

const HOST_LIMIT_MS = 2000;
const SERVER_LIMIT_MS = 5000;

const installation = newInstallation();
const server = await ServerProcess.create(installation, { HEDDLE_RUN_MAX_ATTEMPTS: "1000" });
const load = new Load(server.url, new Ledger());

let factor = 1;

beforeAll(async () => {
  factor = await machineFactor();
  console.log(`limits are for a machine ${factor.toFixed(2)} times as fast as this one`);
  await server.start();
});
afterAll(async () => {
  await load.client.close();
  await server.stop();
  installation.remove();
});

/** Starts a run of many steps and returns the first log line of a third step. */
async function runningAtStepThree(): Promise<LogLine> {
  const run = await acceptedRun();
  return untilLogged((line) => line.run === run && line.step === 3);
}

/** Creates a run, repeating the request while a database that was just killed is unavailable. */
async function acceptedRun(): Promise<string> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      return await new Promise<string>((accepted, rejected) => {
        stepRuns(
          20,
          90,
          accepted,
        )(load).catch((error: unknown) => {
          if (!(error instanceof Unavailable)) load.ledger.wrong.push(String(error));
          rejected(error as Error);
        });
      });
    } catch (error) {
      if (!(error instanceof Unavailable) || Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

/** Returns the process that runs most of these steps, and its lines. */
function busiest(lines: LogLine[]): [pid: number, lines: LogLine[]] {
  const pids = [...new Set(lines.map((line) => line.pid))];
  const groups = pids.map((pid): [number, LogLine[]] => [pid, lines.filter((line) => line.pid === pid)]);
  return groups.toSorted((a, b) => b[1].length - a[1].length)[0]!;
}

/** Waits until a dead host is replaced by a ready one; otherwise a test would measure two deaths. */
async function allHostsReady(): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    if (Number(/^heddle_graph_hosts\{state="ready"\} (\d+)$/m.exec(metrics)?.[1]) >= 3) return;
    await sleep(100);
  }
}

async function untilLogged(matches: (line: LogLine) => boolean, limitMs = 60_000): Promise<LogLine> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const line = (await readLog(installation.stepLog)).find(matches);
    if (line) return line;
    if (Date.now() > deadline) throw new Error(`nothing of it was logged within ${limitMs} ms:\n${server.log()}`);
    await sleep(10);
  }
}

test("runs of a killed graph host continue within 2 s", async () => {
  const times: number[] = [];
  for (let n = 0; n < 4; n++) {
    await allHostsReady();
    const { run, pid } = await runningAtStepThree();
    const killed = Date.now();
    process.kill(pid, "SIGKILL");
    const next = await untilLogged((line) => line.run === run && line.pid !== pid);
    times.push(next.at - killed);
  }
  console.log(`graph host killed to run continued: ${times.join(", ")} ms`);
  expect(Math.max(...times)).toBeLessThanOrEqual(HOST_LIMIT_MS * factor);
});

test("all runs of a graph host with several continue within 2 s", async () => {
  const times: number[] = [];
  for (let n = 0; n < 2; n++) {
    await allHostsReady();
    const started = await Promise.all(Array.from({ length: 6 }, () => runningAtStepThree()));
    const [victim, lost] = busiest(started);
    const killed = Date.now();
    process.kill(victim, "SIGKILL");
    for (const { run } of lost) {
      const next = await untilLogged((line) => line.run === run && line.pid !== victim);
      times.push(next.at - killed);
    }
  }
  console.log(`graph host killed to each of its runs continued: ${times.join(", ")} ms`);
  expect(Math.max(...times)).toBeLessThanOrEqual(HOST_LIMIT_MS * factor);
});

test("runs of a killed server continue within 5 s of its restart", async () => {
  const times: number[] = [];
  for (let n = 0; n < 3; n++) {
    const { run, pid } = await runningAtStepThree();
    await server.kill();
    server.spawn();
    const next = await untilLogged((line) => line.run === run && line.pid !== pid);
    times.push(next.at - server.spawnedAt);
    await server.untilOk();
  }
  // the machine's other load may have changed since the beginning
  factor = Math.max(factor, await machineFactor());
  console.log(`server spawned to run continued: ${times.join(", ")} ms, machine ${factor.toFixed(2)}`);
  // Most of it is Node loading packages in two processes, one after the other: 4 to 5 s on two slow cores. The limit is
  // 1.5 times that, so that a busy machine causes no failure; watch the measurements above.
  expect(times.toSorted((a, b) => a - b)[1]).toBeLessThanOrEqual(1.5 * SERVER_LIMIT_MS * factor);
});

test("runs continue within 5 s after Postgres was killed", async () => {
  const times: number[] = [];
  for (let n = 0; n < 3; n++) {
    const { run } = await runningAtStepThree();
    const killed = Date.now();
    process.kill(server.postmaster()!, "SIGKILL");
    // a step in progress may still end; a step that starts half a second later needed the database
    const next = await untilLogged((line) => line.run === run && line.phase === "start" && line.at > killed + 100);
    times.push(next.at - killed);
  }
  console.log(`Postgres killed to next step started: ${times.join(", ")} ms`);
  expect(Math.max(...times)).toBeLessThanOrEqual(SERVER_LIMIT_MS * factor);
});

test("all of these runs ended without loss or repetition", async () => {
  expect(load.ledger.runs.size).toBe(22);
  expect(await verify(server.url, server.databaseUri(), installation.stepLog, load.ledger)).toEqual([]);
});
