import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";

import pino from "pino";
import { expect, onTestFinished, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { openDatabase } from "./open-database.ts";

const log = pino({ level: "silent" });

/** Postgres' answer to a connection while it recovers. */
function startingUp(): Buffer {
  const fields = Buffer.from("SFATAL\0VFATAL\0C57P03\0Mthe database system is not yet accepting connections\0\0");
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

test("a start waits longer for a recovering Postgres than for an address that refuses connections", async () => {
  const db = await testDatabase();
  const target = new URL(db.uri);
  const startedAt = performance.now();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    // longer than the 3 s for an address where nothing listens
    if (performance.now() - startedAt < 4000) return socket.once("data", () => socket.end(startingUp()));
    const upstream = connect(Number(target.port), target.hostname);
    upstream.on("error", () => socket.destroy());
    return socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const uri = new URL(db.uri);
  uri.hostname = "127.0.0.1";
  uri.port = String((server.address() as AddressInfo).port);
  const database = await openDatabase({ uri: uri.href, dataDir: tmpdir(), log });
  expect(performance.now() - startedAt).toBeGreaterThan(4000);
  await database.close();
}, 40_000);
