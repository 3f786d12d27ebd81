import { createServer } from "node:http";
import { deflateSync, gzipSync } from "node:zlib";
import { type AddressInfo, connect } from "node:net";

import { compress } from "@mongodb-js/zstd";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";

import { openGuard } from "../../../test/principal.ts";
import { unauthorized } from "../errors.ts";
import { createLog } from "../log.ts";
import { BodyGate, createBodyGate } from "./body-gate.ts";
import { errorHandler } from "./errors.ts";
import { holdBodies } from "./hold-body.ts";
import { mountRoutes, route } from "./route.ts";

const gate = createBodyGate({ bodyMemoryMb: 1, maxBodyBytes: 1000 });
const app = new Hono();
app.onError(errorHandler("text", createLog("silent")));
const shared = { method: "POST", summary: "", tag: "", out: {}, audit: "none" } as const;
const publicBecause = "a test";
/** Bytes of the budget held while the last handler runs. */
let heldInside = 0;
const handler = async ({ c }: { c: { req: { text(): Promise<string> }; text(text: string): Response } }) => {
  const { length } = await c.req.text();
  heldInside = gate.used;
  return c.text(String(length));
};
const routes = [
  route({ ...shared, path: "/", permission: "runs:create", handler }),
  route({ ...shared, path: "/public", permission: "public", publicBecause, handler }),
  route({ ...shared, path: "/tiny", permission: "public", publicBecause, maxBodyBytes: 10, handler }),
  route({
    ...shared,
    path: "/json",
    permission: "public",
    publicBecause,
    body: z.looseObject({}),
    handler: ({ c }) => c.json({}),
  }),
  route({
    ...shared,
    path: "/echo",
    permission: "runs:create",
    body: z.looseObject({}),
    handler: ({ c, body }) => c.json({ length: String(body["a"]).length }),
  }),
];
let allowed = true;
const authenticator = {
  ...openGuard.authenticator,
  authenticate: (...args: Parameters<typeof openGuard.authenticator.authenticate>) => {
    if (!allowed) throw unauthorized("no");
    return openGuard.authenticator.authenticate(...args);
  },
};
mountRoutes(
  app,
  routes,
  { ...openGuard, authenticator },
  { maxBytes: 100_000, setting: "HEDDLE_MAX_BODY_BYTES", gate },
);
const server = createServer(getRequestListener(app.fetch));
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function post(path: string, body: BodyInit, duplex?: "half"): Promise<[number, string]> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + path, { method: "POST", body, headers, ...(duplex && { duplex }) } as RequestInit);
  return [response.status, await response.text()];
}

const streamed = (bytes: number) => new Blob(["x".repeat(bytes)]).stream();

test("accepts a body within the limit and rejects a larger one with 413, which names the setting, with or without a length", async () => {
  for (const [path, limit, setting] of [
    ["/", 100_000, " (HEDDLE_MAX_BODY_BYTES)"],
    ["/public", 65_536, ""],
    ["/tiny", 10, ""],
  ] as const) {
    expect(await post(path, "x".repeat(limit))).toEqual([200, String(limit)]);
    const tooLarge = [413, `The request body is larger than ${limit} bytes${setting}.`];
    expect(await post(path, "x".repeat(limit + 1))).toEqual(tooLarge);
    expect(await post(path, streamed(limit), "half")).toEqual([200, String(limit)]);
    expect(await post(path, streamed(limit + 100_000), "half")).toEqual(tooLarge);
  }
  expect(gate.used).toBe(0);
});

test("a public route that reads JSON rejects bodies above 64 KiB", async () => {
  expect((await post("/json", JSON.stringify({ a: "x".repeat(60_000) })))[0]).toBe(200);
  expect((await post("/json", JSON.stringify({ a: "x".repeat(70_000) })))[0]).toBe(413);
  expect((await post("/json", new Blob([JSON.stringify({ a: "x".repeat(70_000) })]).stream(), "half"))[0]).toBe(413);
});

test("counts a body until its handler has ended", async () => {
  for (const size of [100, 50_000]) {
    await post("/", "x".repeat(size));
    expect(heldInside).toBe(size);
    await post("/public", "x".repeat(size));
    expect(heldInside).toBe(size);
    expect(gate.used).toBe(0);
  }
});

test("does not read the body of a rejected caller", async () => {
  allowed = false;
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  try {
    let answer = "";
    socket.on("data", (data) => (answer += data.toString()));
    // announces a body and sends none
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n");
    await vi.waitUntil(() => answer !== "", { timeout: 5_000 });
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(gate.used).toBe(0);
  } finally {
    allowed = true;
    socket.destroy();
  }
});

test("releases the memory of a body when its caller hangs up", async () => {
  for (const path of ["/", "/public"]) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n${"x".repeat(20_000)}`);
    await vi.waitUntil(() => gate.used > 0, { timeout: 5_000, interval: 5 });
    socket.destroy();
    await expect.poll(() => gate.used, { timeout: 5_000, interval: 5 }).toBe(0);
  }
});

test("a connection on which a body was rejected serves the next request", async () => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let heard = "";
  let isClosed = false;
  socket.on("data", (chunk: Buffer) => (heard += chunk.toString()));
  socket.on("close", () => (isClosed = true));
  // far deeper than it may be, which is known after a part of it
  const body = "[".repeat(90_000);
  const type = "Content-Type: application/json\r\n";
  const head = `POST /echo HTTP/1.1\r\nHost: localhost\r\n${type}Content-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body.slice(0, 20_000));
  await vi.waitUntil(() => heard.includes(" 422 "), { timeout: 20_000 });
  socket.write(body.slice(20_000));
  // rejected bodies that do not arrive cost their connection
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(isClosed).toBe(false);
  socket.write(`POST /echo HTTP/1.1\r\nHost: localhost\r\n${type}Content-Length: 2\r\n\r\n{}`);
  await vi.waitUntil(() => heard.includes(" 200 "), { timeout: 20_000 });
  socket.destroy();
  expect(gate.used).toBe(0);
});

test("a stalled body gets 408 when another needs its memory", async () => {
  const others = gate.hold("another tenant");
  expect(others.tryUse(1024 * 1024 - 30_000)).toBe(true);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (data) => (answer += data.toString()));
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n${"x".repeat(20_000)}`);
  await vi.waitUntil(() => gate.used > 1024 * 1024 - 30_000, { timeout: 5_000, interval: 5 });
  expect(others.tryUse(20_000)).toBe(false);
  await others.use(20_000);
  await vi.waitUntil(() => answer !== "", { timeout: 5_000 });
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
  expect(answer).toContain("arrived too slowly");
  others.end();
  expect(gate.used).toBe(0);
  socket.destroy();
});

test("decompresses JSON bodies, counts what they unpack to, and rejects broken and unknown encodings", async () => {
  const send = async (body: Uint8Array<ArrayBuffer>, encoding: string) => {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    const response = await fetch(`${url}/echo`, { method: "POST", body, headers });
    return [response.status, await response.text()];
  };
  const text = (length: number) => JSON.stringify({ a: "x".repeat(length) });
  const packed = (length: number) => Uint8Array.from(gzipSync(text(length)));
  expect(await send(packed(50_000), "gzip")).toEqual([200, '{"length":50000}']);
  expect(await send(packed(5), "GZIP")).toEqual([200, '{"length":5}']);
  // clients of traces alone send it
  expect((await send(Uint8Array.from(await compress(Buffer.from("{}"))), "zstd"))[0]).toBe(415);
  expect(await send(Uint8Array.from(deflateSync(text(7))), "deflate")).toEqual([200, '{"length":7}']);
  expect((await send(packed(200_000), "gzip"))[0]).toBe(413);
  expect((await send(packed(50_000).slice(0, 60), "gzip"))[0]).toBe(400);
  expect((await send(Uint8Array.from(Buffer.from("{}")), "gzip"))[0]).toBe(400);
  expect((await send(packed(5), "br"))[0]).toBe(415);
  expect(await send(Uint8Array.from(Buffer.from(text(3))), "identity")).toEqual([200, '{"length":3}']);
  expect(gate.used).toBe(0);
});

test("middleware that holds bodies leaves them as they were sent, and routes decompress them within the limits", async () => {
  const held = new Hono();
  held.onError(errorHandler("text", createLog("silent")));
  const limits = { maxBytes: 100_000, setting: "HEDDLE_MAX_BODY_BYTES", gate };
  held.use(holdBodies(limits));
  held.post("/own", async (c) => c.body(await c.req.arrayBuffer()));
  mountRoutes(held, routes, openGuard, limits);
  const send = async (path: string, body: Buffer | string, encoding: string) => {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    const response = await held.request(path, { method: "POST", headers, body: Uint8Array.from(Buffer.from(body)) });
    return [response.status, await response.text()];
  };
  const json = JSON.stringify({ a: "x".repeat(90_000) });
  expect(await send("/echo", gzipSync(json), "gzip")).toEqual([200, '{"length":90000}']);
  expect(await send("/echo", deflateSync(json), "deflate")).toEqual([200, '{"length":90000}']);
  expect(await send("/echo", json, "identity")).toEqual([200, '{"length":90000}']);
  expect(await send("/echo", json, "br")).toEqual([415, expect.stringContaining("br is not supported")]);
  expect(await send("/echo", "{}", "gzip")).toEqual([400, "The request body is not validly compressed."]);
  expect(await send("/echo", gzipSync("x".repeat(200_000)), "gzip")).toEqual([413, expect.anything()]);
  expect(await send("/echo", gzipSync(`{"a":${"[".repeat(2000)}${"]".repeat(2000)}}`), "gzip")).toEqual([
    422,
    expect.stringContaining("1000 levels"),
  ]);
  expect(await send("/json", gzipSync(json), "gzip")).toEqual([413, expect.anything()]);
  expect((await send("/own", gzipSync(json), "gzip"))[0]).toBe(200);
  expect(gate.used).toBe(0);
});

test("a large JSON body gives up its turn to be decoded before its handler runs", async () => {
  const events: string[] = [];
  const large = new Hono();
  const limits = {
    maxBytes: 10 * 1024 * 1024,
    gate: new BodyGate({ bytes: 64 * 1024 * 1024, afterLarge: () => events.push("decoded") }),
  };
  const handle = route({
    ...shared,
    path: "/large",
    permission: "runs:create",
    body: z.looseObject({}),
    handler: ({ c }) => {
      events.push("handled");
      return c.json({});
    },
  });
  mountRoutes(large, [handle], openGuard, limits);
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const body = Uint8Array.from(gzipSync(JSON.stringify({ a: "x".repeat(5 * 1024 * 1024) })));
  expect((await large.request("/large", { method: "POST", headers, body })).status).toBe(200);
  expect(events.slice(0, 2)).toEqual(["decoded", "handled"]);
  expect(limits.gate.used).toBe(0);
});
