/** Checkpoints of a run that ends, is released or is deleted, also while a graph host is writing. */
import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type { WriteItem } from "../../../../graph-host/src/checkpoints/rows.ts";
import { StatementBuilder, WRITE_STATEMENT } from "../../../../graph-host/src/checkpoints/write-statement.ts";
import { queueRows } from "../../../test/queue-rows.ts";
import { cancelRunRow, deleteFinishedRun, releaseRun } from "./sql.ts";

const { sql, newThread, create, finish, checkpoint, countOf: countRows } = await queueRows();

const tables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"] as const;
const rows = (threadId: string) => Promise.all(tables.map((table) => countRows(table, threadId)));

const step = (threadId: string, runId: string, id: string): WriteItem => ({
  fence: { runId, attempt: 1 },
  checkpoint: {
    ...{ threadId, ns: "", id, parentId: null },
    checkpoint: JSON.stringify({ channel_versions: { text: id } }),
    metadata: JSON.stringify({ run_id: runId }),
  },
  blobs: [{ threadId, ns: "", channel: "text", version: id, type: "json", blob: Buffer.from("1") }],
  writes: [],
});

/** Sends a call while the host's statement that writes a checkpoint is not yet committed. */
async function besideWrite<T>(threadId: string, runId: string, send: () => Promise<T>): Promise<T> {
  const builder = new StatementBuilder();
  builder.add(step(threadId, runId, "c9"));
  let sent: Promise<T>;
  await sql.begin(async (host) => {
    const rows = await host.unsafe(WRITE_STATEMENT, builder.build().parameters);
    expect(rows).toHaveLength(1);
    sent = send();
    await expect
      .poll(async () => (await sql`select 1 from pg_locks where not granted`).length, { interval: 5 })
      .toBeGreaterThan(0);
  });
  return sent!;
}

test("a rollback deletes a checkpoint that a host is writing at that moment", async () => {
  const t = await newThread();
  const run = await create(t, { claim: true });
  await cancelRunRow(sql, { runId: run.runId, threadId: t, action: "rollback", reason: null });
  const ended = await besideWrite(t, run.runId, () => finish(run.runId, 1, "cancelled"));
  expect(ended.outcome).toBe("deleted");
  expect(await rows(t)).toEqual([0, 0, 0]);
});

test("a thread deleted with its run loses a checkpoint that a host is writing at that moment", async () => {
  const t = randomUUID();
  const run = await create(t, { claim: true, createThread: true, temporary: true });
  const ended = await besideWrite(t, run.runId, () => finish(run.runId, 1, "cancelled"));
  expect(ended.outcome).toBe("interrupted");
  expect(await rows(t)).toEqual([0, 0, 0]);
});

test("a checkpoint that a host is writing at that moment counts as progress of a handed back run", async () => {
  const t = await newThread();
  const run = await create(t, { claim: true });
  const blame = { runId: run.runId, attempt: 1, blame: true, maxFailures: 2, reason: "r", notify: false };
  await sql`update runs set failures = 1 where run_id = ${run.runId}`;
  const released = await besideWrite(t, run.runId, () => releaseRun(sql, blame));
  expect(released.outcome).toBe("pending");
});

test("deleting a finished run keeps what the running run has read", async () => {
  const t = await newThread();
  const first = await create(t, { claim: true });
  await checkpoint(t, first.runId, "c1", "1");
  await finish(first.runId);
  const second = await create(t, { claim: true });
  expect(await deleteFinishedRun(sql, t, first.runId)).toBe("deleted");
  const builder = new StatementBuilder();
  const unchanged = JSON.stringify({ channel_versions: { text: "1" } });
  const written = step(t, second.runId, "c2");
  builder.add({ ...written, checkpoint: { ...written.checkpoint!, checkpoint: unchanged }, blobs: [] });
  await sql.unsafe(WRITE_STATEMENT, builder.build().parameters);
  await finish(second.runId);
  expect(await rows(t)).toEqual([1, 1, 0]);
  expect(await deleteFinishedRun(sql, t, second.runId)).toBe("deleted");
  expect(await rows(t)).toEqual([0, 0, 0]);
});

test("deleting a finished run keeps the changes from which later checkpoints are rebuilt", async () => {
  const t = await newThread();
  const runs = [];
  let parentId: string | null = null;
  for (const id of ["c1", "c2", "c3"]) {
    const run = await create(t, { claim: true });
    const { checkpoint: row, ...rest } = step(t, run.runId, id);
    const metadata = JSON.stringify({ run_id: run.runId, counters_since_delta_snapshot: { text: [1, 1] } });
    const builder = new StatementBuilder();
    builder.add({ ...rest, checkpoint: { ...row!, parentId, metadata } });
    await sql.unsafe(WRITE_STATEMENT, builder.build().parameters);
    await finish(run.runId);
    runs.push(run);
    parentId = id;
  }
  const [, second, last] = runs;
  expect(await deleteFinishedRun(sql, t, second!.runId)).toBe("deleted");
  expect(await rows(t)).toEqual([3, 3, 0]);
  expect(await deleteFinishedRun(sql, t, last!.runId)).toBe("deleted");
  expect(await rows(t)).toEqual([2, 2, 0]);
});
