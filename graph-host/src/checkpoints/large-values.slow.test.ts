/** Values that do not pass through the driver's parameters and results: see large-values.ts. */
import { randomUUID } from "node:crypto";

import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { LARGE_BYTES } from "./large-values.ts";
import type { WriteItem } from "./rows.ts";

const db = await testDatabase();
const statements: string[] = [];
const database = new CheckpointDatabase(db.uri, {
  socket: db.options.host ?? null,
  onStatement: (text) => statements.push(text),
});
afterAll(() => database.close());

/** Bytes of every kind, among them those that text cannot have. */
const bytes = (length: number, seed: number) =>
  Buffer.from(Array.from({ length: 1024 }, (_, n) => (n * 31 + seed) % 256))
    .toString("latin1")
    .repeat(Math.ceil(length / 1024))
    .slice(0, length);
const value = (length: number, seed: number) => Buffer.from(bytes(length, seed), "latin1");

const SIZES = [0, 1, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1, 5 * LARGE_BYTES + 17];

function item(threadId: string, id = "1"): WriteItem {
  const versions = Object.fromEntries(SIZES.map((size, n) => [`it's ${size}\\`, `v'${n}\\`]));
  return {
    fence: undefined,
    checkpoint: {
      ...{ threadId, ns: "a'b\\", id, parentId: null, metadata: '{"step":1}' },
      checkpoint: JSON.stringify({ v: 4, id, channel_versions: versions }),
    },
    blobs: SIZES.map((size, n) => ({
      ...{ threadId, ns: "a'b\\", channel: `it's ${size}\\`, version: `v'${n}\\`, type: "msgpack" },
      blob: value(size, n),
    })),
    writes: SIZES.map((size, idx) => ({
      ...{ threadId, ns: "a'b\\", checkpointId: id, taskId: "t'\\", idx, channel: `it's ${size}\\` },
      ...{ type: "bytes", replaces: false, blob: value(size, idx + 100) },
    })),
  };
}

test("values of every size are read as they were written, by the statements of states and of histories", async () => {
  const threadId = randomUUID();
  await database.write(item(threadId), false);
  const { checkpoints } = await database.read({ threadId, ns: "a'b\\", asStored: true });
  expect(checkpoints).toHaveLength(1);
  const [stored] = checkpoints;
  expect(stored!.checkpoint).toContain('"id": "1"');
  for (const [n, size] of SIZES.entries()) {
    const { type, data } = stored!.values.get(`it's ${size}\\`)!;
    expect([type, Buffer.compare(Buffer.from(data as Uint8Array), value(size, n))]).toEqual(["msgpack", 0]);
    const write = stored!.writes[n]!;
    expect([write.idx, write.type]).toEqual([n, "bytes"]);
    expect(Buffer.compare(Buffer.from(write.data as Uint8Array), value(size, n + 100))).toBe(0);
  }
  const child = { v: 4, id: "2", channel_versions: {} };
  const next = { threadId, ns: "a'b\\", id: "2", parentId: "1", metadata: "{}", checkpoint: JSON.stringify(child) };
  await database.write({ fence: undefined, checkpoint: next, blobs: [], writes: [] }, false);
  const channel = `it's ${SIZES.at(-1)}\\`;
  const history = (await database.readDeltaHistory(threadId, "a'b\\", undefined, [channel], true)).get(channel)!;
  expect(Buffer.compare(Buffer.from(history.seed!.data as Uint8Array), value(SIZES.at(-1)!, 5))).toBe(0);
  expect(Buffer.compare(Buffer.from(history.writes[0]!.data as Uint8Array), value(SIZES.at(-1)!, 105))).toBe(0);
});

test("a session that ends while values are sent costs nothing but time", async () => {
  const threadId = randomUUID();
  for (const at of ["create temporary table", "copy pg_temp", "octet_length", "insert into checkpoints"]) {
    statements.length = 0;
    const written = database.write(item(threadId, at), false);
    await expect.poll(() => statements.some((text) => text.includes(at)), { interval: 1 }).toBe(true);
    await db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'heddle checkpoint writer' and datname = current_database()`;
    await written;
  }
  const { checkpoints } = await database.read({ threadId, ns: "a'b\\", asStored: true });
  expect(checkpoints).toHaveLength(4);
  for (const { values, writes } of checkpoints) {
    for (const [n, size] of SIZES.entries()) {
      const { data } = values.get(`it's ${size}\\`)!;
      expect(Buffer.compare(Buffer.from(data as Uint8Array), value(size, n))).toBe(0);
    }
    expect(writes).toHaveLength(SIZES.length);
  }
});

test("an item that the database rejects fails alone, and those after it are written", async () => {
  const [bad, good] = [randomUUID(), randomUUID()];
  const rejected = item(bad);
  rejected.checkpoint!.metadata = "no JSON";
  const results = await Promise.allSettled([database.write(rejected, false), database.write(item(good), false)]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect((await database.read({ threadId: bad, asStored: true })).checkpoints).toEqual([]);
  const { checkpoints } = await database.read({ threadId: good, asStored: true });
  expect(checkpoints[0]!.values.size).toBe(SIZES.length);
  expect(await db.sql`select 1 from pg_class where relname = 'large_body'`).toEqual([]);
});

const userMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user / 1000;
};

/** What Postgres' text format makes of a value, and back: a part of what it would cost to send and read it so. */
const asText = (blob: Buffer) => Buffer.from(Buffer.from(`\\x${blob.toString("hex")}`).toString("latin1"), "hex");

test("the event loop turns while a large value is written and read", async () => {
  const blob = value(40 * LARGE_BYTES, 7);
  const checkpoint = { v: 4, id: "1", channel_versions: { text: "v1" } };
  let [used, text] = [0, 0];
  // by turns: other programs on the machine take time from its processors' caches
  for (let i = 0; i < 5; i++) {
    text += await userMs(() => asText(blob));
    const threadId = randomUUID();
    const large: WriteItem = {
      fence: undefined,
      checkpoint: { threadId, ns: "", id: "1", parentId: null, metadata: "{}", checkpoint: JSON.stringify(checkpoint) },
      blobs: [{ threadId, ns: "", channel: "text", version: "v1", type: "msgpack", blob }],
      writes: [],
    };
    let read: Uint8Array | undefined;
    const turn = async () => {
      await database.write(large, false);
      const { checkpoints } = await database.read({ threadId, ns: "", asStored: true });
      read = checkpoints[0]!.values.get("text")!.data as Uint8Array;
    };
    used += await userMs(turn);
    expect(Buffer.compare(Buffer.from(read!), blob)).toBe(0);
  }
  // 0.8 times on an idle machine; values that are sent as text take more than four times
  expect(used / text).toBeLessThan(2);
});
