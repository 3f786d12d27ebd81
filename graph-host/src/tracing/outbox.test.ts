import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";

import { Outbox } from "./outbox.ts";

const started: Server[] = [];
afterEach(() => {
  for (const server of started.splice(0)) server.close().closeAllConnections();
});

/** Starts a platform that gives one of `answers` per request, then accepts everything. */
async function platform(answers: { status: number; headers?: Record<string, string> }[] = [], port = 0) {
  const received: { body: string; key: unknown; path: string | undefined; at: number }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push({ body, key: request.headers["x-api-key"], path: request.url, at: Date.now() });
      const { status, headers } = answers.shift() ?? { status: 202 };
      response.writeHead(status, headers).end("why");
    });
  });
  started.push(server);
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, received };
}

function outbox(maxBytes = 1000, patienceMs = 60_000) {
  const logged: string[] = [];
  const box = new Outbox({
    maxBytes,
    log: (message) => logged.push(message),
    firstPauseMs: 10,
    reportEveryMs: 50,
    patienceMs,
  });
  const add = (text: string) => box.add({ path: "/runs/batch", contentType: "application/json", body: bytes(text) });
  return { box, logged, add };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("sends batches added before the platform is known in order, with the key", async () => {
  const { url, received } = await platform();
  const { box, add } = outbox();
  for (const text of ["1", "2", "3"]) add(text);
  expect(await box.flush(20)).toBe(false);
  box.direct({ state: "on", url, key: "k" });
  expect(await box.flush(2000)).toBe(true);
  expect(received.map(({ body }) => body)).toEqual(["1", "2", "3"]);
  expect(received[0]).toMatchObject({ key: "k", path: "/runs/batch" });
  expect(box.bytes).toBe(0);
});

test("delivers everything after a platform was unavailable, failing or full", async () => {
  const probe = await platform();
  const { port } = new URL(probe.url);
  await new Promise((closed) => started.pop()!.close(closed));
  const { box, logged, add } = outbox();
  box.direct({ state: "on", url: probe.url, key: null });
  add("1");
  expect(await box.flush(100)).toBe(false);
  const { received } = await platform(
    [{ status: 500 }, { status: 429, headers: { "retry-after": "1" } }],
    Number(port),
  );
  add("2");
  expect(await box.flush(5000)).toBe(true);
  expect(received.map(({ body }) => body)).toEqual(["1", "1", "1", "2"]);
  expect(received[2]!.at - received[1]!.at).toBeGreaterThanOrEqual(950);
  expect(logged).toEqual([]);
});

test("drops, counts and reports permanently rejected batches, and sends the rest", async () => {
  const { url, received } = await platform([{ status: 422 }, { status: 422 }, { status: 422 }]);
  const { box, logged, add } = outbox();
  box.direct({ state: "on", url, key: null });
  for (const text of ["1", "2", "3", "4"]) add(text);
  expect(await box.flush(2000)).toBe(true);
  expect(received).toHaveLength(4);
  await expect.poll(() => logged).toHaveLength(2);
  expect(logged[0]).toMatch(/^A batch of traces could not be stored: .* responded with 422: why/);
  expect(logged[1]).toMatch(/^2 batches of traces/);
});

test("drops the oldest batches when full, and keeps memory within its limit", async () => {
  const { url, received } = await platform();
  const { box, logged, add } = outbox(100);
  for (let n = 0; n < 50; n++) {
    add(String(n).padStart(10, "0"));
    expect(box.bytes).toBeLessThanOrEqual(100);
  }
  expect(logged).toHaveLength(1);
  await expect.poll(() => logged.join()).toContain("39 batches");
  box.direct({ state: "on", url, key: null });
  expect(await box.flush(2000)).toBe(true);
  expect(received.map(({ body }) => Number(body))).toEqual([40, 41, 42, 43, 44, 45, 46, 47, 48, 49]);
});

test("delivers batches of which each is larger than the queue", async () => {
  const { url, received } = await platform();
  const { box, logged, add } = outbox(100);
  box.direct({ state: "on", url, key: null });
  add("a".repeat(150));
  add("b".repeat(150));
  expect(await box.flush(2000)).toBe(true);
  expect(received.map(({ body }) => body[0])).toEqual(["a", "b"]);
  expect(logged).toEqual([]);
});

test("reports a platform that rejects everything for long once", async () => {
  const { url } = await platform(Array.from({ length: 8 }, () => ({ status: 401 })));
  const { box, logged, add } = outbox(1000, 30);
  box.direct({ state: "on", url, key: "wrong" });
  add("1");
  expect(await box.flush(10_000)).toBe(true);
  expect(logged).toEqual([expect.stringMatching(/^Traces are queued: .* responded with 401/)]);
});

test("discards all batches and accepts none when switched off", async () => {
  const { box, add } = outbox();
  add("1");
  box.direct({ state: "off" });
  add("2");
  expect(box.bytes).toBe(0);
  expect(await box.flush(10)).toBe(true);
});
