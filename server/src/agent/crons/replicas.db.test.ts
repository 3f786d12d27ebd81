/** Several schedulers on one database: each occurrence is claimed once. */

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";
import { type TestDatabase, testDatabase } from "../../../test/db.ts";

let db: TestDatabase;
let servers: TestAgentServer[];
beforeAll(async () => {
  db = await testDatabase();
  // one at a time: each migrates the database and registers assistants
  servers = [];
  for (let n = 0; n < 3; n++) servers.push(await testAgentServer({}, undefined, { db }));
}, 60_000);
afterAll(() => Promise.all(servers.map((server) => server.stop())).then(() => {}));

const CRON = { schedule: "* * * * *", assistant_id: "trail", input: { topic: "x" }, on_run_completed: "keep" };

test("each of thirty crons due at once starts one run across three servers", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 30; n++) {
    const { json } = await servers[n % 3]!.call("POST", "/runs/crons", { ...CRON, enabled: false, metadata: { n } });
    ids.push(json.cron_id as string);
  }
  await db.sql`update crons set enabled = true, next_run_date = date_trunc('minute', now()) where cron_id = any(${ids})`;
  for (const { agent } of servers) agent.deps.crons.wake();
  await vi.waitFor(
    async () => {
      const [row] = await db.sql<{ n: number }[]>`select count(*)::int as n from runs where status = 'success'`;
      expect(row!.n).toBeGreaterThanOrEqual(30);
    },
    { timeout: 45_000, interval: 50 },
  );
  for (const { agent } of servers) await agent.deps.crons.settled();
  const rows = await db.sql<{ cron: string; at: string; n: number }[]>`
    select metadata ->> 'cron_id' as cron, metadata ->> 'cron_scheduled_for' as at, count(*)::int as n
    from runs group by 1, 2`;
  // a new minute may add an occurrence during the test, but none may run twice
  expect(rows.every((row) => row.n === 1)).toBe(true);
  expect(new Set(rows.map((row) => row.cron)).size).toBe(30);
  await db.sql`delete from crons`;
});

test("only the latest occurrence missed during downtime starts a run", async () => {
  const { json } = await servers[0]!.call("POST", "/runs/crons", { ...CRON, enabled: false });
  await db.sql`
    update crons set enabled = true, next_run_date = date_trunc('minute', now()) - interval '3 hours'
    where cron_id = ${json.cron_id as string}`;
  for (const { agent } of servers) agent.deps.crons.wake();
  const runs = () => db.sql<{ at: string }[]>`
    select metadata ->> 'cron_scheduled_for' as at from runs where metadata ->> 'cron_id' = ${json.cron_id as string}`;
  await vi.waitFor(async () => expect((await runs()).length).toBe(1), { timeout: 20_000, interval: 20 });
  for (const { agent } of servers) await agent.deps.crons.settled();
  const found = await runs();
  expect(Date.now() - Date.parse(found[0]!.at)).toBeLessThan(125_000);
  expect(new Set(found.map((run) => run.at)).size).toBe(found.length);
  await db.sql`delete from crons`;
});
