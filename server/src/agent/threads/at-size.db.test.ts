/** Statements that every server repeats, or that a page of a list is, read a bounded number of rows however many there are. */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { rowsInSteps, rowsRead } from "../../../test/rows-read.ts";
import { COUNTED_BEYOND } from "../../base/db/page-total.ts";
import { selectTasks } from "../a2a/sql.ts";
import { searchAssistants } from "../assistants/sql.ts";
import { searchCrons } from "../crons/sql.ts";
import { setThreadTtlDefault } from "../housekeeping/sql.ts";
import { stampThreads } from "../housekeeping/stamp-threads.ts";
import { beat } from "../servers/sql.ts";
import { sweepStreams } from "../streams/sql.ts";
import { searchThreads } from "./sql.ts";

const { sql, assistantId, me } = await queueRows();
const ROWS = 20_000;
const PAGE = { limit: 10, offset: 0 };
const COUNTED = PAGE.limit + COUNTED_BEYOND;

beforeAll(async () => {
  await sql`
    insert into threads (thread_id, metadata, created_at)
    select md5('t' || n)::uuid, '{"graph_id": "g"}', now() - interval '1 day' - n * interval '1 second'
    from generate_series(1, ${ROWS}) n`;
  await sql`
    insert into runs (run_id, thread_id, assistant_id, status, metadata)
    select gen_random_uuid(), md5('t' || n)::uuid, ${assistantId}, 'success',
           case when n = 1 then '{"source": "a2a"}' else '{}' end::jsonb
    from generate_series(1, ${ROWS}) n`;
  await sql`
    insert into crons (cron_id, assistant_id, schedule, created_at)
    select md5('c' || n)::uuid, ${assistantId}, '* * * * *', now() - n * interval '1 second'
    from generate_series(1, ${ROWS}) n`;
  await sql`
    insert into assistants (assistant_id, graph_id, name) select md5('a' || n)::uuid, 'g', 'a' from generate_series(1, ${ROWS}) n`;
  await sql`analyze`;
});

test("a page of threads counts at most 10,000 beyond it", async () => {
  for (const filter of [{}, { metadata: { graph_id: "g" } }, { status: "idle" as const }]) {
    expect((await searchThreads(sql, { ...PAGE, ...filter })).total).toBe(COUNTED);
  }
  const last = await searchThreads(sql, { limit: 10, offset: ROWS - 5 });
  expect(last.total).toBe(ROWS);
});

test("a page of crons, or of assistants, counts at most 10,000 beyond it", async () => {
  expect((await searchCrons(sql, PAGE, [])).total).toBe(COUNTED);
  expect((await searchAssistants(sql, PAGE)).total).toBe(COUNTED);
});

test("the default time to live is applied without reading threads that are older", async () => {
  // with fewer, Postgres rightly prefers to read them all
  await sql`
    insert into threads (thread_id, created_at, metadata)
    select gen_random_uuid(), now() - interval '2 days', jsonb_build_object('text', repeat('-', 1000))
    from generate_series(1, 60000) n`;
  await sql`analyze threads`;
  await setThreadTtlDefault(sql, { strategy: "delete", minutes: 60 });
  await sql`insert into threads (thread_id) values (${randomUUID()})`;
  expect(await rowsRead(sql, "threads", (tx) => stampThreads(tx, 1000))).toBeLessThan(20);
  expect(await stampThreads(sql, 1000)).toBe(1);
});

test("tasks of A2A are found among the runs of their assistant by an index", async () => {
  const search = { assistantId, contextId: undefined, status: undefined, sees: [] };
  expect(await selectTasks(sql, search, PAGE)).toHaveLength(1);
  expect(await rowsRead(sql, "runs", (tx) => selectTasks(tx, search, PAGE))).toBeLessThan(20);
});

test("a sweep deletes all stored streams that are due", async () => {
  await sql`
    insert into run_streams (run_id, thread_id, ended_at)
    select gen_random_uuid(), gen_random_uuid(), now() - interval '1 hour' from generate_series(1, 1200)`;
  await sweepStreams(sql, 60);
  expect(await sql`select 1 from run_streams`).toHaveLength(0);
});

test("a heartbeat takes no more steps per running run when there are more servers", async () => {
  await sql`update runs set status = 'running', server_id = ${me}`;
  await sql`
    insert into servers (server_id, host_name, process, slots)
    select gen_random_uuid(), 'there', 'null', 100 from generate_series(1, 200)`;
  expect(await rowsInSteps(sql, (tx) => beat(tx, me))).toBeLessThan(20 * ROWS);
  expect((await beat(sql, me)).others.map(({ running }) => running)).toEqual(Array.from({ length: 200 }, () => 0));
});
