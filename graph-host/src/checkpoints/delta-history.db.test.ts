import { randomUUID } from "node:crypto";
import { BaseCheckpointSaver, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { HeddleSaver } from "./heddle-saver.ts";

const db = await testDatabase();
const statements: string[] = [];
const database = new CheckpointDatabase(db.uri, {
  socket: db.options.host,
  onStatement: (text) => statements.push(text),
});
afterAll(() => database.close());

test("the history of a long branch equals the library's own walk, with one query per 500 ancestors", async () => {
  const threadId = randomUUID();
  const saver = new HeddleSaver(database);
  let config: Parameters<HeddleSaver["put"]>[0] = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  let middle = config;
  for (let step = 0; step < 620; step++) {
    const id = String(step).padStart(6, "0");
    const values: Record<string, unknown> = step === 100 ? { late: "seed" } : step === 600 ? { early: ["seed"] } : {};
    // like a delta channel: a version per step, values for few of them
    const versions = { late: step, early: step };
    const created = { ...emptyCheckpoint(), id, channel_values: values, channel_versions: versions };
    const put = saver.put(
      config,
      created,
      { source: "loop", step, parents: {} },
      Object.fromEntries(Object.keys(values).map((name) => [name, step])),
    );
    const next = { configurable: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: id } };
    // a branch outside the ancestry
    const aside = { ...created, id: `${id}x` };
    const away = saver.put(config, aside, { source: "fork", step, parents: {} }, {});
    const beside = { configurable: { ...next.configurable, checkpoint_id: aside.id } };
    const writes = [
      saver.putWrites(
        next,
        [
          ["early", step],
          ["late", step],
          ["late", -step],
          ["other", step],
        ],
        `b${step % 3}`,
      ),
      saver.putWrites(next, [["late", "first"]], "a"),
      saver.putWrites(beside, [["late", "never"]], "a"),
    ];
    if (step % 50 === 49) await Promise.all([put, away, ...writes]);
    config = next;
    if (step === 300) middle = next;
  }
  await saver.flush();
  for (const from of [config, middle]) {
    const channels = ["early", "late", "nothing"];
    const expected = await BaseCheckpointSaver.prototype.getDeltaChannelHistory.call(new HeddleSaver(database), {
      config: from,
      channels,
    });
    statements.length = 0;
    const found = await new HeddleSaver(database).getDeltaChannelHistory({ config: from, channels });
    expect(statements.length).toBe(from === config ? 2 : 1);
    expect(found).toEqual(expected);
    expect(found["late"]).toMatchObject({ seed: "seed" });
    expect(found["late"]!.writes.length).toBeGreaterThan(500);
  }
});

test("a history that begins at a list which is stored as changes has the whole list", async () => {
  const saver = new HeddleSaver(database);
  const threadId = randomUUID();
  let config: Parameters<HeddleSaver["put"]>[0] = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  const items: string[] = [];
  for (let step = 0; step < 12; step++) {
    const id = String(step).padStart(6, "0");
    if (step < 10) items.push(`${step} `.repeat(400));
    const values = step < 10 ? { log: items.slice() } : {};
    const created = { ...emptyCheckpoint(), id, channel_values: values, channel_versions: { log: step } };
    await saver.put(config, created, { source: "loop", step, parents: {} }, step < 10 ? { log: step } : {});
    config = { configurable: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: id } };
    await saver.putWrites(config, [["log", step]], "t");
  }
  const rows = await db.sql<{ type: string }[]>`
    select type from checkpoint_blobs where thread_id = ${threadId} and version = '9'`;
  expect(rows[0]).toEqual({ type: "list" });
  const found = await new HeddleSaver(database).getDeltaChannelHistory({ config, channels: ["log"] });
  expect(found["log"]!.seed).toEqual(items);
});
