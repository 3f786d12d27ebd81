import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/heddle.js", import.meta.url));
const PROJECT = fileURLToPath(new URL("../../../server/test/fixtures/agent-project/langgraph.json", import.meta.url));
const db = await testDatabase();
const dataDir = mkdtempSync(join(tmpdir(), "heddle-cli-tracing-"));
/** Whole servers, on a possibly busy machine. */
const SLOW = { timeout: 240_000 };
const PATIENT = { timeout: 90_000 };
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }));

/** Starts a serving command and resolves once its output shows that it is ready. */
async function heddle(command: string[], until: string, env: Record<string, string> = {}) {
  const args = [LAUNCHER, ...command, "--config", PROJECT, "--data-dir", dataDir, "--port", "0", "--trace-port", "0"];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], DATABASE_URI: db.uri, HEDDLE_HOSTS: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  await expect.poll(() => (child.exitCode === null ? output : until), PATIENT).toContain(until);
  return { child, output: () => output, find: (pattern: RegExp) => pattern.exec(output)?.[1], exited };
}

type Json = Record<string, unknown>;

async function call(url: string, key: string | undefined, body?: unknown): Promise<{ status: number; json: Json }> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...(key && { "x-api-key": key }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  return { status: response.status, json: (await response.json()) as Json };
}

/** Runs an agent until it ends. @returns the run's id */
async function run(api: string, key?: string): Promise<string> {
  const { json: thread } = await call(`${api}/threads`, key, {});
  const runs = `${api}/threads/${String(thread["thread_id"])}/runs`;
  const { status, json: values } = await call(`${runs}/wait`, key, { assistant_id: "trail", input: {} });
  expect({ status, values }).toMatchObject({ status: 200, values: { log: expect.any(Array) } });
  const { json } = await call(runs, key);
  return (json as unknown as { run_id: string }[])[0]!.run_id;
}

const traceStatus = (traces: string, key: string | undefined, id: string): Promise<unknown> =>
  call(`${traces}/runs/${id}`, key).then(
    ({ status, json }) => (status === 200 ? json["status"] : status),
    () => "away",
  );

function tracePid(parent: number): number | undefined {
  const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const found = lines.find((line) => line.includes("--supervised") && Number(line.trim().split(/\s+/)[1]) === parent);
  return found === undefined ? undefined : Number(found.trim().split(/\s+/)[0]);
}

/** Whether the process has loaded chDB, which takes 200 MB. */
const hasEngine = (pid: number): boolean => readFileSync(`/proc/${pid}/maps`, "utf8").includes("libchdb");

let firstKey: string | undefined;

test(
  "traces runs with an undisclosed key where keys are required, and delivers traces of an outage later",
  SLOW,
  async () => {
    const server = await heddle(["dev"], "Stop with Ctrl-C", { HEDDLE_AUTH: "required" });
    const api = server.find(/^ {2}API +(.+)$/m)!;
    // in the banner, or after it when the start took long
    const announced = /(?:^ {2}Traces +|The trace platform is up at )(http:\/\/127\.0\.0\.1:\d+)/m;
    await expect.poll(() => server.output(), PATIENT).toMatch(announced);
    const traces = server.find(announced)!;
    const key = (firstKey = server.find(/^ {2}Key +(.+)$/m)!);
    // nothing needs the engine yet: neither health checks nor sweeps
    expect((await call(`${traces}/ready`, undefined)).status).toBe(200);
    expect(hasEngine(tracePid(server.child.pid!)!)).toBe(false);
    const first = await run(api, key);
    await expect.poll(() => traceStatus(traces, key, first), PATIENT).toBe("success");
    expect(hasEngine(tracePid(server.child.pid!)!)).toBe(true);
    expect(await traceStatus(traces, undefined, first)).toBe(401);

    const pid = tracePid(server.child.pid!)!;
    process.kill(pid, "SIGKILL");
    const meanwhile = await run(api, key);
    await expect.poll(() => tracePid(server.child.pid!) ?? pid, PATIENT).not.toBe(pid);
    await expect.poll(() => traceStatus(traces, key, meanwhile), PATIENT).toBe("success");

    // the last run's trace is delivered before the platform is stopped
    const last = await run(api, key);
    server.child.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    const again = await heddle(["serve", "--role", "trace"], "Trace platform", { HEDDLE_AUTH: "required" });
    expect(await traceStatus(again.find(/Trace platform (\S+)/)!, key, last)).toBe("success");
  },
);

test("traces runs when both roles share a process, and stops it cleanly", SLOW, async () => {
  const server = await heddle(["serve", "--role", "agent,trace"], "Agent server", { HEDDLE_AUTH: "required" });
  const api = server.find(/Agent server (\S+)/)!;
  const traces = server.find(/Trace platform (\S+)/)!;
  await expect.poll(() => call(`${api}/ok`, undefined).then(({ status }) => status)).toBe(200);
  const id = await run(api, firstKey);
  await expect.poll(() => traceStatus(traces, firstKey, id), PATIENT).toBe("success");

  const body = { assistant_id: "trail", input: {}, feedback_keys: ["thumbs"] };
  const { json } = await call(`${api}/runs/wait`, firstKey, body);
  const { thumbs } = json["__feedback__"] as { thumbs: string };
  // the link is its own credential
  expect(await call(`${thumbs}?score=1`, undefined)).toMatchObject({ status: 200 });
  expect(thumbs.startsWith(traces)).toBe(true);
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});
