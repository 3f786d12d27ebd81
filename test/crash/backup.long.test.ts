/**
 * The drill: a platform under load, a backup while it is loaded, the loss of everything, a restore. All that was
 * acknowledged before the backup began is there, and what is newer is whole or absent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { runHeddle } from "../../cli/test/run-heddle.ts";
import { stopAbandonedPostgres } from "../../server/src/base/db/embedded-postgres.ts";
import { freePort } from "../../server/src/base/free-port.ts";
import { newInstallation } from "./server-process.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const installation = newInstallation();
const { dataDir, directory } = installation;
const [agentPort, tracePort] = [await freePort(), await freePort()];
const AGENT = `http://127.0.0.1:${agentPort}`;
const TRACE = `http://127.0.0.1:${tracePort}`;
const archive = join(directory, "backup.tar");
let server: ChildProcess | undefined;
let key = "";

const log = (): string => readFileSync(join(directory, "server.log"), "utf8");

async function start(): Promise<void> {
  const output = openSync(join(directory, "server.log"), "a");
  const roles = ["--role", "agent,trace", "--port", String(agentPort), "--trace-port", String(tracePort)];
  const args = ["cli/bin/heddle.js", "serve", ...roles, "--data-dir", dataDir];
  server = spawn(process.execPath, [...args, "--config", "test/crash/project/langgraph.json"], {
    cwd: repository,
    stdio: ["ignore", output, output],
    env: { ...process.env, HEDDLE_AUTH: "required", HEDDLE_RATE_LIMITS: "off", STEP_LOG: installation.stepLog },
  });
  closeSync(output);
  for (const deadline = Date.now() + 120_000; ; await sleep(50)) {
    const ready = await Promise.all(
      [AGENT, TRACE].map((url) =>
        fetch(`${url}/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    if (ready.every(Boolean)) return;
    if (server.exitCode !== null || Date.now() > deadline) throw new Error(`the server did not start:\n${log()}`);
  }
}

async function kill(): Promise<void> {
  const exited = new Promise((done) => server!.once("exit", done));
  server!.kill("SIGKILL");
  await exited;
  await stopAbandonedPostgres(dataDir);
}

afterAll(async () => {
  if (server?.exitCode === null && server.signalCode === null) await kill();
  installation.remove();
});

async function send(url: string, method: string, path: string, body?: unknown): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(url + path, {
    method,
    headers: { "x-api-key": key, ...(body !== undefined && !isForm && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
}

async function ask<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  const response = await send(url, method, path, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** What the servers have acknowledged. */
const ledger = {
  threads: [] as { threadId: string; echoed: number }[],
  traces: [] as { runId: string; project: string; feedbackId: string }[],
  examples: [] as string[],
  assistants: [] as string[],
};
const count = () => Object.fromEntries(Object.entries(ledger).map(([name, list]) => [name, list.length]));

async function converse(n: number): Promise<void> {
  const { thread_id: threadId } = await ask<{ thread_id: string }>(AGENT, "POST", "/threads", { metadata: { n } });
  await ask(AGENT, "POST", `/threads/${threadId}/runs/wait`, { assistant_id: "echo", input: { n } });
  ledger.threads.push({ threadId, echoed: n });
}

/** A trace with an attachment and feedback. */
async function trace(n: number): Promise<void> {
  const id = randomUUID();
  const project = `project ${n % 3}`;
  const time = "2026-11-21T10:00:00.000001Z";
  const order = `20261121T100000000001Z${id}`;
  const run = { id, name: "n", run_type: "chain", trace_id: id, start_time: time, end_time: time, dotted_order: order };
  const form = new FormData();
  const body = { ...run, session_name: project, inputs: { n }, outputs: { done: n } };
  form.append(`post.${id}`, new Blob([JSON.stringify(body)], { type: "application/json" }));
  form.append(`attachment.${id}.note`, new Blob([`note of ${id}`], { type: "text/plain" }));
  await ask(TRACE, "POST", "/runs/multipart", form);
  const feedback = await ask<{ id: string }>(TRACE, "POST", "/feedback", { run_id: id, key: "score", score: 0.5 });
  ledger.traces.push({ runId: id, project, feedbackId: feedback.id });
}

let dataset = "";

async function example(n: number): Promise<void> {
  const { id } = await ask<{ id: string }>(TRACE, "POST", "/examples", { dataset_id: dataset, inputs: { n } });
  ledger.examples.push(id);
  const assistant = { graph_id: "echo", name: `assistant ${n}`, metadata: { n } };
  ledger.assistants.push((await ask<{ assistant_id: string }>(AGENT, "POST", "/assistants", assistant)).assistant_id);
}

const PASSPHRASE = { HEDDLE_BACKUP_PASSPHRASE: "correct horse battery" };

test("after the loss of an installation under load, a restore brings back all that was acknowledged before the backup", async () => {
  await start();
  key = /lsv2_\w+|hd_\w+|(?<=key: )\S+/i.exec(log())?.[0] ?? "";
  expect(key).not.toBe("");
  dataset = (await ask<{ id: string }>(TRACE, "POST", "/datasets", { name: "drill" })).id;
  let loading = true;
  const workers = [converse, converse, trace, trace, example].map(async (work) => {
    for (let n = 1; loading; n++) await work(n);
  });
  const enough = () => Object.values(count()).every((number) => number >= 5);
  for (const deadline = Date.now() + 180_000; !enough() && Date.now() < deadline;) await sleep(50);
  const before = structuredClone(ledger);
  expect(Object.values(count()).every((number) => number >= 5)).toBe(true);

  const taken = await runHeddle(["backup", archive, "--data-dir", dataDir, "--json"], PASSPHRASE);
  expect([taken.code, taken.stderr]).toEqual([0, expect.stringContaining("traces")]);
  loading = false;
  await Promise.all(workers);
  // the platform served while it was copied
  expect(ledger.threads.length).toBeGreaterThan(before.threads.length);
  expect(ledger.traces.length).toBeGreaterThan(before.traces.length);
  await kill();
  rmSync(dataDir, { recursive: true, force: true });

  const restored = await runHeddle(["restore", archive, "--data-dir", dataDir, "--json"], PASSPHRASE);
  expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining("attaching the traces")]);
  await start();
  for (const { threadId, echoed } of before.threads) {
    const state = await ask<{ values: { echoed: number }; next: string[] }>(AGENT, "GET", `/threads/${threadId}/state`);
    expect(state).toMatchObject({ values: { echoed }, next: [] });
  }
  for (const { runId, feedbackId } of before.traces) {
    const run = await ask<{ s3_urls: Record<string, { presigned_url: string }>; outputs: object }>(
      TRACE,
      "GET",
      `/runs/${runId}`,
    );
    expect(run.outputs).toEqual({ done: expect.any(Number) });
    const content = await fetch(run.s3_urls["attachment.note"]!.presigned_url);
    expect(await content.text()).toBe(`note of ${runId}`);
    expect(await ask(TRACE, "GET", `/feedback/${feedbackId}`)).toMatchObject({ run_id: runId, score: 0.5 });
  }
  for (const id of before.examples)
    expect(await ask(TRACE, "GET", `/examples/${id}`)).toMatchObject({ dataset_id: dataset });
  for (const id of before.assistants)
    expect(await ask(AGENT, "GET", `/assistants/${id}`)).toMatchObject({ graph_id: "echo" });

  // what is newer is whole: a run that is there has its attachment, and feedback that is there has its run
  const broken: string[] = [];
  for (const { runId, feedbackId } of ledger.traces.slice(before.traces.length)) {
    const response = await send(TRACE, "GET", `/runs/${runId}`);
    if (response.status === 200) {
      const run = (await response.json()) as { s3_urls?: Record<string, { presigned_url: string }> };
      for (const { presigned_url } of Object.values(run.s3_urls ?? {})) {
        if (!(await fetch(presigned_url)).ok) broken.push(`the attachment of ${runId}`);
      }
    } else if ((await send(TRACE, "GET", `/feedback/${feedbackId}`)).status !== 404)
      broken.push(`feedback of ${runId}`);
  }
  expect(broken).toEqual([]);
  // filters see the feedback again, which is copied from Postgres
  await expect
    .poll(
      async () => {
        const filter = `and(eq(feedback_key, "score"), eq(feedback_score, 0.5))`;
        const projects = await ask<{ id: string }[]>(TRACE, "GET", "/sessions?limit=100");
        const body = { session: projects.map(({ id }) => id), filter, limit: 100, select: ["id"] };
        const { runs } = await ask<{ runs: { id: string }[] }>(TRACE, "POST", "/runs/query", body);
        return runs.length;
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThanOrEqual(Math.min(100, before.traces.length));
  // new work continues from the restored state
  await converse(1000);
  await trace(1000);
}, 600_000);
