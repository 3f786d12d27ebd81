/** Two agent servers, two workers, one Postgres, one Redis: processes that are killed while they work. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testRedis } from "../../../test/redis.ts";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));
const db = await testDatabase();
const redis = await testRedis();
const dir = mkdtempSync(join(tmpdir(), "heddle-replicas-"));
const stepLog = join(dir, "steps.jsonl");
/** Two more than the slots of both workers. */
const RUNS = 18;
const started: Server[] = [];
afterAll(async () => {
  await Promise.all(started.map((server) => server.end("SIGTERM")));
  rmSync(dir, { recursive: true, force: true });
});

interface Server {
  url: string;
  alive: boolean;
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

async function start(role: "agent" | "worker", jobs: number): Promise<Server> {
  const args = ["cli/bin/heddle.js", "serve", "--role", role, "--config", "test/crash/project/langgraph.json"];
  const child: ChildProcess = spawn(
    process.execPath,
    [...args, "--port", "0", "--data-dir", dir, "--no-reload", "--n-jobs-per-worker", String(jobs)],
    {
      cwd: repository,
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        DATABASE_URI: db.uri,
        REDIS_URI: redis.uri,
        STEP_LOG: stepLog,
        HEDDLE_HOSTS: "1",
        HEDDLE_LEASE_MS: "3000",
        HEDDLE_LOG_LEVEL: "error",
        LANGSMITH_TRACING: "false",
      },
    },
  );
  const exited = once(child, "exit");
  const server: Server = {
    url: "",
    alive: true,
    async end(signal) {
      if (!server.alive) return;
      server.alive = false;
      child.kill(signal);
      await exited;
    },
  };
  started.push(server);
  let text = "";
  await new Promise<void>((ready, failed) => {
    child.stdout!.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /(?:Agent server|Worker) (http\S+)/.exec(text);
      if (found) server.url = found[1]!;
      if (found) ready();
    });
    child.once("exit", () => failed(new Error(`the ${role} ended: ${text}`)));
  });
  return server;
}

async function call(server: Server, method: string, path: string, body?: unknown) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(server.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? null : JSON.parse(text) };
}

interface Frame {
  id: number;
  text: string;
}

/** Reads a run to its end from any living server; resumes where it was cut off. */
async function readThrough(servers: Server[], path: string, turn: number): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (; ; turn++) {
    const server = servers[turn % servers.length]!;
    if (!server.alive) {
      await sleep(50);
      continue;
    }
    try {
      const headers = { "Last-Event-ID": String(frames.at(-1)?.id ?? -1) };
      const response = await fetch(`${server.url}${path}/stream`, { headers });
      expect(response.status).toBe(200);
      let rest = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const parts = (rest + chunk).split("\n\n");
        rest = parts.pop()!;
        for (const text of parts)
          if (!text.startsWith(":")) frames.push({ id: Number(/\nid: (\d+)/.exec(text)![1]), text });
      }
      return frames;
    } catch (error) {
      if ((error as Error).name === "AssertionError") throw error;
      await sleep(50);
    }
  }
}

test(
  "servers and workers share the load, and lose nothing when processes or Redis are killed",
  { timeout: 150_000 },
  async () => {
    const [reader, two, hand, other] = await Promise.all([
      start("agent", 2),
      start("agent", 2),
      start("worker", 8),
      start("worker", 8),
    ]);
    const servers = [reader, two];
    const info = async () => (await db.sql`select 1 from servers`).length;
    await expect.poll(info, { timeout: 30_000 }).toBe(4);
    // a worker serves only health and metrics
    expect((await call(hand, "GET", "/ok")).json).toEqual({ ok: true });
    expect((await fetch(`${hand.url}/threads/search`, { method: "POST" })).status).toBe(404);
    expect(await (await fetch(`${hand.url}/metrics`)).text()).toContain("heddle_server_runs");
    // every host is ready, and every server knows all others
    const ready = async () => (await db.sql`select 1 from servers where cardinality(graphs) > 0`).length;
    await expect.poll(ready, { timeout: 60_000 }).toBe(4);
    await sleep(2500);

    const input = { steps: 8, pause: 400 };
    const accepted = await Promise.all(
      Array.from({ length: RUNS }, async (_, n) => {
        const server = servers[n % 2]!;
        const thread = (await call(server, "POST", "/threads", {})).json.thread_id as string;
        const body = { assistant_id: "steps", input, stream_mode: ["values", "updates"], stream_resumable: true };
        const run = (await call(server, "POST", `/threads/${thread}/runs`, body)).json.run_id as string;
        return `/threads/${thread}/runs/${run}`;
      }),
    );
    const readers = accepted.flatMap((path, n) => [readThrough(servers, path, n), readThrough(servers, path, n + 1)]);
    // more than the servers have slots for: a stateless run's result comes from the server that executed it
    const waits = [0, 1, 2, 3].map((n) =>
      call(two, "POST", "/runs/wait", { assistant_id: "steps", input: { steps: 2, pause: 50 }, metadata: { n } }),
    );
    const thread = (await call(reader, "POST", "/threads", {})).json.thread_id as string;
    const endless = (
      await call(reader, "POST", `/threads/${thread}/runs`, {
        assistant_id: "ticker",
        input: { frames: 1000, pause: 50 },
      })
    ).json;
    for (const { json } of await Promise.all(waits)) expect(json.done).toEqual([1, 2]);

    await expect
      .poll(async () => (await call(two, "GET", `/threads/${thread}/runs/${endless.run_id}`)).json.status, {
        timeout: 30_000,
      })
      .toBe("running");
    expect((await call(two, "POST", `/threads/${thread}/runs/${endless.run_id}/cancel?wait=1`)).status).toBe(204);
    expect((await call(two, "GET", `/threads/${thread}/runs/${endless.run_id}`)).json.status).toBe("interrupted");

    // the workers alone have too few slots
    const owners = async () =>
      (await db.sql`select distinct server_id from runs where status in ('running', 'success')`).length;
    await expect.poll(owners, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
    await redis.kill();
    await other.end("SIGKILL");
    await sleep(600);
    await two.end("SIGKILL");
    await sleep(600);
    await redis.start();

    const transcripts = await Promise.all(readers);
    for (const [n, path] of accepted.entries()) {
      const [first, second] = [transcripts[2 * n]!, transcripts[2 * n + 1]!];
      expect(first.map(({ id }) => id)).toEqual(first.map((_, i) => i));
      expect(second).toEqual(first);
      expect((await call(reader, "GET", path)).json.status).toBe("success");
      expect((await call(reader, "GET", `${path}/join`)).json.done).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      // the same again later, from another process
      expect(await readThrough([reader], path, 0)).toEqual(first);
    }
    // a step whose checkpoint was written was not run again
    const ended = readFileSync(stepLog, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { run: string; step: number; phase: string });
    const starts = ended.filter(({ phase }) => phase === "start");
    expect(starts.length).toBeLessThan(RUNS * 8 + 4 * 2 + 1 + 20);
  },
);
