/**
 * Records what README shows: a server that is killed with SIGKILL in the middle of a stream, starts again and finishes
 * the run, each step once. Real processes in real time; only the wait for the first start is left out.
 *
 *     node --import tsx scripts/build/record-kill.ts    writes docs/pictures/kill.svg
 *
 * Fails without writing if a step is missing or repeated.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Client } from "@langchain/langgraph-sdk";

import { freePort } from "../../server/src/base/free-port.ts";
import { drawRecording, type Line } from "./recording.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STEPS = 8;
const KILL_AFTER = 3;
const directory = mkdtempSync(join(tmpdir(), "heddle-recording-"));
// Postgres does not run as root, and its user needs access to its data
chmodSync(directory, 0o755);
const port = await freePort();
const client = new Client({ apiUrl: `http://127.0.0.1:${port}`, callerOptions: { maxRetries: 0 } });

async function start(): Promise<ChildProcess> {
  const args = ["dev", "--config", "examples/langgraph.json", "--port", String(port), "--no-reload", "--no-trace"];
  const server = spawn(process.execPath, ["cli/bin/heddle.js", ...args, "--data-dir", join(directory, "data")], {
    cwd: ROOT,
    stdio: "ignore",
    env: { ...process.env, HEDDLE_CONSOLE: "false" },
  });
  while (server.exitCode === null) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return server;
    await sleep(50);
  }
  throw new Error(`the server ended with ${server.exitCode}`);
}

const lines: Line[] = [];
let startedAt = 0;
function show(kind: Line["kind"], text: string): void {
  const at = (performance.now() - startedAt) / 1000;
  lines.push({ at, text, kind });
  console.log(at.toFixed(1).padStart(5), text);
}

const seen: number[] = [];
let lastEventId: string | undefined;

/** Follows the run until it ends or the connection breaks. @returns whether it has ended */
async function follow(threadId: string, runId: string): Promise<boolean> {
  const options = { streamMode: "updates" as const, ...(lastEventId && { lastEventId }) };
  for await (const { id, event, data } of client.runs.joinStream(threadId, runId, options)) {
    lastEventId = id ?? lastEventId;
    const done = (data as { work?: { done: number } } | null)?.work?.done;
    if (event !== "updates" || done === undefined) continue;
    seen.push(done);
    show("output", `step ${done} of ${STEPS}${done === STEPS ? "   the run has ended" : ""}`);
  }
  return (await client.runs.get(threadId, runId)).status === "success";
}

let server = await start();
try {
  const { thread_id } = await client.threads.create();
  startedAt = performance.now();
  show("command", `$ curl -N localhost:2024/threads/$T/runs/stream -d '{"assistant_id": "slow", …}'`);
  const input = { steps: STEPS, seconds: 1 };
  const { run_id } = await client.runs.create(thread_id, "slow", {
    input,
    streamMode: "updates",
    streamResumable: true,
  });
  const following = follow(thread_id, run_id).catch(() => false);
  while (seen.length < KILL_AFTER) await sleep(20);
  await sleep(400);
  show("command", `$ kill -9 ${server.pid}    # the server`);
  server.kill("SIGKILL");
  if (await following) throw new Error("the run ended before the server was killed");
  show("note", "the connection is lost");
  await sleep(800);
  show("command", "$ npm start");
  server = await start();
  show("note", "ready; the client joins the stream again, after the last event that it has");
  while (!(await follow(thread_id, run_id).catch(() => false))) await sleep(100);
  const expected = Array.from({ length: STEPS }, (_, step) => step + 1);
  if (seen.join() !== expected.join()) throw new Error(`steps ${seen.join()} instead of ${expected.join()}`);
  const title =
    "A server killed in the middle of a stream: after its restart the run continues, and no step is missing";
  writeFileSync(join(ROOT, "docs/pictures/kill.svg"), drawRecording(title, lines));
} finally {
  server.kill("SIGTERM");
  await sleep(3000);
  rmSync(directory, { recursive: true, force: true });
}
