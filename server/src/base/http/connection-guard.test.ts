import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

import { afterEach, expect, test, vi } from "vitest";

import { ConnectionGuard, markKnown } from "./connection-guard.ts";

const ASK = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
let server: Server;
/** Number of requests that the server has parsed. */
let parsed = 0;
const sockets: Socket[] = [];

async function listen(
  settings: { maxUnknownConnections?: number; maxUnreadMb?: number },
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<void> {
  parsed = 0;
  server = createServer((request, response) => {
    parsed += 1;
    if (guard.admit(request, response)) handle(request, response);
  });
  const guard = new ConnectionGuard(server, { maxUnknownConnections: 1000, maxUnreadMb: 256, ...settings });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

async function dial(): Promise<Socket & { received: string }> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1") as Socket & { received: string };
  sockets.push(socket);
  socket.received = "";
  socket.on("error", () => {}).on("data", (data) => (socket.received += data.toString()));
  await once(socket, "connect");
  return socket;
}

test("answers simultaneous clients up to four times the limit", async () => {
  await listen({ maxUnknownConnections: 10 }, (_, response) => void response.end("here"));
  const clients = await Promise.all(Array.from({ length: 40 }, () => dial()));
  for (const client of clients) client.write(ASK);
  await Promise.all(clients.map(isAnswered));
  const more = await dial();
  more.write(ASK);
  await isAnswered(more);
  await isClosed(clients[0]!);
  expect(more.closed).toBe(false);
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

const isClosed = (socket: Socket) => vi.waitUntil(() => socket.closed, { timeout: 5_000, interval: 5 });
const isAnswered = (socket: { received: string }) =>
  vi.waitUntil(() => socket.received.includes("here"), { timeout: 5_000, interval: 5 });

test("answers 16 pipelined requests in turn, and closes a connection with more", async () => {
  let handled = 0;
  await listen({}, (_, response) => {
    handled += 1;
    setImmediate(() => response.end("here"));
  });
  const few = await dial();
  few.write(ASK.repeat(16));
  await vi.waitUntil(() => few.received.split("here").length === 17, { timeout: 5_000, interval: 5 });
  handled = 0;
  parsed = 0;
  const many = await dial();
  many.write(ASK.repeat(1000));
  await isClosed(many);
  expect(handled).toBe(16);
  expect(parsed).toBe(17);
});

test("closes the oldest unknown connections after a second, but not known or busy ones", async () => {
  const waiting: ServerResponse[] = [];
  await listen({ maxUnknownConnections: 3 }, (request, response) => {
    if (request.url === "/known") markKnown(request.socket);
    if (request.url === "/slow") waiting.push(response);
    else response.end("here");
  });
  const known = await dial();
  known.write(ASK.replace("/", "/known"));
  await isAnswered(known);
  const answered = await dial();
  answered.write(ASK.replace("/", "/slow"));
  await vi.waitUntil(() => waiting.length === 1, { timeout: 5_000, interval: 5 });
  const half = await dial();
  half.write("GET / HTTP/1.1\r\nHost:");
  const idle = await dial();
  const [first, second] = [await dial(), await dial()];
  await isClosed(half);
  await isClosed(idle);
  second.write(ASK);
  await isAnswered(second);
  waiting[0]!.end("here");
  await isAnswered(answered);
  known.received = "";
  known.write(ASK);
  await isAnswered(known);
  expect(first.closed).toBe(false);
});

test("cuts off readers with too much unread data, the largest first", async () => {
  const mib = Buffer.alloc(1024 * 1024, "x");
  await listen({ maxUnreadMb: 20 }, (request, response) => {
    markKnown(request.socket);
    // more than the kernel buffers
    response.write(Buffer.alloc(12 * mib.length, "x"));
    for (let n = 0; n < (request.url === "/more" ? 12 : 0); n++) response.write(mib);
  });
  const less = await dial();
  less.pause();
  less.write(ASK);
  const more = await dial();
  more.pause();
  more.write(ASK.replace("/", "/more"));
  const open = () =>
    new Promise<number>((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))));
  await expect.poll(open, { timeout: 5_000 }).toBe(1);
  // the other connection receives its complete response
  let bytes = 0;
  less.on("data", (data) => (bytes += data.length));
  less.resume();
  await vi.waitUntil(() => bytes > 12 * mib.length, { timeout: 5_000, interval: 20 });
});
