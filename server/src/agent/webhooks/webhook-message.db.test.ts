/** A delivery's message about its run: kept as of the run's end, whatever happens to run and thread later. */
import { randomUUID } from "node:crypto";

import { beforeAll, expect, test } from "vitest";

import { testDatabase, type TestDatabase } from "../../../test/db.ts";
import { selectMessage } from "./sql.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});

const KWARGS = {
  input: { topic: "x" },
  config: { configurable: { a: 1, langgraph_auth_user: { identity: "anna", token: "t0p" } } },
};

async function startRun({ temporary = false, zone = "UTC" } = {}) {
  const [runId, threadId] = [randomUUID(), randomUUID()];
  await db.sql.begin(async (sql) => {
    await sql`select set_config('timezone', ${zone}, true)`;
    await sql`insert into threads (thread_id, status, running_run_id, values)
              values (${threadId}, 'busy', ${runId}, ${'{"log": ["first"]}'}::text::jsonb)`;
    await sql`
      insert into runs (run_id, thread_id, assistant_id, status, attempt, temporary, kwargs, metadata, webhook, started_at)
      values (${runId}, ${threadId}, ${randomUUID()}, 'running', 1, ${String(temporary)}::text::boolean,
              ${JSON.stringify(KWARGS)}::text::jsonb, '{"mine": 1}', 'http://hooks.example/x', now())`;
  });
  return { runId, threadId };
}

/** Ends the run as a host or server with this time zone would. */
async function finish({ runId, threadId }: { runId: string; threadId: string }, outcome: string, zone = "UTC") {
  const error = outcome === "error" ? '{"error": "Broken", "message": "it broke", "stack": "…"}' : null;
  const state = outcome === "success" ? '{"values": {"log": ["end"]}, "next": [], "interrupts": {}}' : null;
  await db.sql.begin(async (sql) => {
    await sql`select set_config('timezone', ${zone}, true)`;
    await sql`select finish_run(${runId}, ${threadId}, 1, ${outcome}, ${error}::text::jsonb, ${state}::text::jsonb, false)`;
  });
}

async function readMessage(runId: string): Promise<Record<string, unknown>> {
  const [row] = await db.sql<{ delivery_id: string }[]>`
    select delivery_id from webhook_deliveries where run_id = ${runId}`;
  return JSON.parse((await selectMessage(db.sql, row!.delivery_id))!.text) as Record<string, unknown>;
}

test("the message does not change with its run, nor when run and thread are deleted", async () => {
  const run = await startRun();
  await finish(run, "success");
  const message = await readMessage(run.runId);
  expect(message).toMatchObject({
    run_id: run.runId,
    thread_id: run.threadId,
    status: "success",
    metadata: { mine: 1 },
    multitask_strategy: "enqueue",
    values: { log: ["end"] },
  });
  expect(message).not.toHaveProperty("error");
  await db.sql`update runs set metadata = '{"other": 2}', updated_at = now() + interval '1 h' where run_id = ${run.runId}`;
  await db.sql`update threads set values = '{"log": ["later"]}' where thread_id = ${run.threadId}`;
  expect(await readMessage(run.runId)).toEqual(message);
  await db.sql`select delete_thread_data(${run.threadId})`;
  expect(await readMessage(run.runId)).toEqual(message);
});

test("formats times in UTC, whatever the time zone of the session that ends the run", async () => {
  const run = await startRun({ zone: "Asia/Tokyo" });
  await finish(run, "success", "America/New_York");
  const { created_at, updated_at, run_started_at, run_ended_at } = await readMessage(run.runId);
  for (const time of [created_at, updated_at, run_started_at, run_ended_at]) expect(time).toMatch(/\+00:00$/);
});

test("does not store the credentials of the run's user", async () => {
  const run = await startRun({ temporary: true });
  await finish(run, "success");
  const [row] = await db.sql<{ text: string }[]>`
    select d::text as text from webhook_deliveries d where run_id = ${run.runId}`;
  expect(row!.text).not.toContain("t0p");
  const { kwargs, ...rest } = await readMessage(run.runId);
  expect(kwargs).toEqual({ input: { topic: "x" }, config: { configurable: { a: 1 } } });
  // deleted with its run
  expect(rest).not.toHaveProperty("values");
});

test("reports an error by name and message, and a run deleted with its thread as rolled back", async () => {
  const failed = await startRun();
  await finish(failed, "error");
  expect((await readMessage(failed.runId))["error"]).toEqual({ error: "Broken", message: "it broke" });
  const deleted = await startRun();
  await db.sql`select delete_thread_data(${deleted.threadId})`;
  const message = await readMessage(deleted.runId);
  expect(message).toMatchObject({ status: "rollback", run_ended_at: expect.any(String) as unknown });
  expect(message).not.toHaveProperty("values");
});

test("sends a message stored as text by an earlier version unchanged", async () => {
  const [row] = await db.sql<{ delivery_id: string }[]>`
    insert into webhook_deliveries (run_id, thread_id, run_status, url, receiver, payload, state)
    values (gen_random_uuid(), gen_random_uuid(), 'success', 'http://hooks.example/', 'http://hooks.example',
            '{"run_id": "x"}', '{"a": 1}') returning delivery_id`;
  expect((await selectMessage(db.sql, row!.delivery_id))?.text).toBe('{"run_id": "x","values":{"a": 1}}');
});
