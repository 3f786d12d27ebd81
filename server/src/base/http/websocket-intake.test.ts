import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

import { afterEach, expect, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";

import { createBodyGate } from "./body-gate.ts";
import { WebSocketIntake } from "./websocket-intake.ts";

const KIB = 1024;
const http = createServer();
const servers = new WebSocketServer({ noServer: true, maxPayload: 16 * KIB * KIB });
const gate = createBodyGate({ bodyMemoryMb: 4, maxBodyBytes: 0 });
const clients: WebSocket[] = [];
http.listen(0, "127.0.0.1");

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await vi.waitUntil(() => gate.used === 0, { timeout: 5_000 });
  http.removeAllListeners("upgrade");
});

/** Opens a client, with the messages queued at its server. */
async function open(): Promise<{ client: WebSocket; server: WebSocket; waiting: Buffer[]; intake: WebSocketIntake }> {
  const opened = new Promise<Omit<Awaited<ReturnType<typeof open>>, "client">>((resolve) => {
    http.once("upgrade", (request, raw: Duplex, head) => {
      servers.handleUpgrade(request, raw, head, (server) => {
        const intake = new WebSocketIntake(gate, server, raw);
        const waiting: Buffer[] = [];
        server.on("message", (data: Buffer) => waiting.push(data));
        server.on("error", () => {});
        resolve({ server, waiting, intake });
      });
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  client.on("error", () => {});
  clients.push(client);
  await once(client, "open");
  return { client, ...(await opened) };
}

test("stops reading a socket until its messages are handled", async () => {
  const { client, server, waiting, intake } = await open();
  for (let n = 0; n < 20; n++) client.send(Buffer.alloc(300 * KIB));
  await vi.waitUntil(() => server.isPaused, { timeout: 5_000 });
  expect(waiting.length).toBeLessThan(8);
  expect(gate.used).toBeGreaterThan(KIB * KIB);
  let handled = 0;
  await vi.waitUntil(
    () => {
      for (const data of waiting.splice(0)) {
        intake.handled(data.length);
        handled += 1;
      }
      return handled === 20;
    },
    { timeout: 10_000, interval: 5 },
  );
});

test("partial large messages share the server's memory, and a socket without room is closed with 1013", async () => {
  const holder = await open();
  holder.client.send(Buffer.alloc(3.5 * KIB * KIB), { fin: false });
  await vi.waitUntil(() => gate.used > 3.4 * KIB * KIB, { timeout: 5_000 });
  const late = await open();
  const closed = once(late.client, "close");
  late.client.send(Buffer.alloc(3 * KIB * KIB), { fin: false });
  expect((await closed)[0]).toBe(1013);
  expect(gate.used).toBeLessThan(4.1 * KIB * KIB);
}, 20_000);
