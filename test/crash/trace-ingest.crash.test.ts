import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, expect, test } from "vitest";

import { newInstallation } from "./server-process.ts";
import { TraceProcess } from "./trace-process.ts";

const installation = newInstallation();
const server = await TraceProcess.create(installation);
afterAll(async () => {
  await server.stop();
  installation.remove();
});

const post = (path: string, body: object, method: "POST" | "PATCH" = "POST") => {
  const request: RequestInit = { method, body: JSON.stringify(body) };
  return fetch(server.url + path, request);
};

const run = (id: string, more: object = {}) => ({
  id,
  name: "n",
  run_type: "chain",
  trace_id: id,
  start_time: "2026-11-21T10:00:00.000001Z",
  dotted_order: `20261121T100000000001Z${id}`,
  session_name: "crash",
  inputs: { text: "x".repeat(1500) },
  ...more,
});

interface Read {
  id: string;
  outputs: unknown;
  inputs: { text: string };
}

async function read(id: string): Promise<Read | undefined> {
  const response = await fetch(`${server.url}/runs/${id}`);
  return response.status === 200 ? ((await response.json()) as Read) : undefined;
}

test("runs acknowledged right before a kill are readable right after the restart", async () => {
  await server.start();
  for (let life = 0; life < 3; life++) {
    const acknowledged: string[] = [];
    let alive = true;
    // many at once, so that the kill hits an insert in progress
    const clients = Array.from({ length: 16 }, async () => {
      while (alive) {
        const ids = Array.from({ length: 10 }, () => randomUUID());
        const answer = await post("/runs/batch", { post: ids.map((id) => run(id)) }).catch(() => undefined);
        if (answer?.status === 202) acknowledged.push(...ids);
        else if (alive && answer) throw new Error(`${answer.status} ${await answer.text()}`);
        else return;
      }
    });
    await sleep(1500);
    const last = randomUUID();
    const answer = await post("/runs", run(last));
    expect(answer.status).toBe(202);
    await server.kill();
    alive = false;
    await Promise.all(clients);
    acknowledged.push(last);

    await server.start();
    const found = await read(last);
    expect(found).toMatchObject({ id: last });
    const missing: string[] = [];
    for (let at = 0; at < acknowledged.length; at += 100) {
      const ids = acknowledged.slice(at, at + 100);
      const response = await post("/runs/query", { id: ids, limit: 100, select: ["id", "inputs"] });
      expect(response.status).toBe(200);
      const { runs } = (await response.json()) as { runs: Read[] };
      const whole = new Set(runs.filter(({ inputs }) => inputs.text.length === 1500).map(({ id }) => id));
      missing.push(...ids.filter((id) => !whole.has(id)));
    }
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  }
});

test("an update that waits for its run survives a kill, and is merged when the run arrives", async () => {
  const id = randomUUID();
  expect((await post(`/runs/${id}`, { outputs: { done: true }, end_time: Date.now() }, "PATCH")).status).toBe(202);
  await server.kill();
  await server.start();
  expect((await post("/runs", run(id))).status).toBe(202);
  await expect.poll(async () => (await read(id))?.outputs).toEqual({ done: true });
});
