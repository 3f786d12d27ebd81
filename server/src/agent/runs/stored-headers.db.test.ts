/** Migration 0100: copies of headers of Heddle's own that runs and their traces, streams and webhooks kept. */
import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { findInDatabase } from "../../../test/find-in-database.ts";
import { migrate, MIGRATIONS } from "../../base/db/migrate.ts";

const KEY = "0lMCJvmI-_0lMCJvmI0lMCJvmI0lMCJvmI0lMCJvmI0";
const { sql } = await testDatabase();

test("stored copies of the server's own headers are removed, and nothing else", { timeout: 120_000 }, async () => {
  expect(KEY).toHaveLength(43);
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await migrate(sql, MIGRATIONS, { upTo: 99 });
  const [thread, run, assistant, cron] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const configurable = { "x-heddle-own-code": KEY, "x-heddle-csrf": "1", "x-team": "blue", n: 1 };
  const config = { tags: ["t"], configurable };
  const kwargs = { input: { a: 1 }, config };
  const user = { identity: "anna", token: `token of ${KEY}` };
  const text = (value: unknown) => JSON.stringify(value);
  await sql`insert into assistants (assistant_id, graph_id, name, config) values (${assistant}, 'g', 'n', ${sql.json(config)})`;
  await sql`insert into assistant_versions (assistant_id, version, graph_id, name, config, metadata)
    values (${assistant}, 1, 'g', 'n', ${sql.json(config)}, '{}')`;
  await sql`insert into threads (thread_id, config) values (${thread}, ${sql.json(config)})`;
  await sql`insert into runs (run_id, thread_id, assistant_id, status, kwargs)
    values (${run}, ${thread}, ${assistant}, 'success', ${sql.json(kwargs)})`;
  await sql`insert into crons (cron_id, assistant_id, schedule, payload) values (${cron}, ${assistant}, '* * * * *', ${sql.json(kwargs)})`;
  await sql`insert into idempotency_keys (scope, key, part, fingerprint, run_id, thread_id, run)
    values ('s', 'k', 0, 'f', ${run}, ${thread}, ${sql.json({ kwargs })})`;
  await sql`insert into webhook_deliveries (run_id, thread_id, run_status, url, receiver, run_kwargs, payload)
    values (${run}, ${thread}, 'success', 'http://x', 'x', ${sql.json(kwargs)}, ${text({ kwargs })})`;
  await sql`insert into checkpoints (thread_id, checkpoint_id, checkpoint, metadata)
    values (${thread}, '1', '{}', ${sql.json({ ...configurable, step: 1, langgraph_auth_user: user })})`;
  const frames = `event: debug\ndata: ${text({ config })}\n\nevent: custom\ndata: ${text({ json: text({ config }) })}\n\n`;
  await sql`insert into run_stream_segments (run_id, first, frames) values (${run}, 0, ${frames})`;
  await sql`insert into protocol_threads (thread_id, assistant_id) values (${thread}, ${assistant})`;
  await sql`insert into protocol_events (thread_id, last_seq, run_id, names, bodies)
    values (${thread}, 1, ${run}, '["values"]', ${`{"x-heddle-own-code": "${KEY}"}`})`;
  await sql`insert into waiting_pieces (tenant_id, run_id, needs, kind, piece)
    values (${thread}, ${run}, ${run}, 'update', ${text({ extra: { metadata: { "x-heddle-own-code": KEY } } })})`;
  const before = await findInDatabase(sql, [KEY]);
  expect(before.length).toBeGreaterThan(10);

  // sessions of earlier servers that use the tables, as they do in a rolling upgrade
  const other = await sql.reserve();
  await other`begin`;
  await other`lock table threads, runs, checkpoints, run_stream_segments in row exclusive mode`;
  expect((await migrate(sql, MIGRATIONS, { upTo: 100 })).applied).toContain("0100_stored_headers.sql");
  await other`rollback`;
  other.release();

  expect(await findInDatabase(sql, [KEY])).toEqual([]);
  const kept = { "x-team": "blue", n: 1 };
  const [row] = await sql<{ kwargs: object; config: object; metadata: object; frames: string }[]>`
    select r.kwargs, t.config, c.metadata, s.frames from runs r join threads t using (thread_id)
    join checkpoints c on c.thread_id = t.thread_id::text join run_stream_segments s using (run_id)`;
  expect(row!.kwargs).toEqual({ ...kwargs, config: { ...config, configurable: kept } });
  expect(row!.config).toEqual({ ...config, configurable: kept });
  expect(row!.metadata).toEqual({ ...kept, step: 1 });
  // readers count the characters of frames
  expect(row!.frames).toBe(frames.replaceAll(KEY, "*".repeat(43)));
});
