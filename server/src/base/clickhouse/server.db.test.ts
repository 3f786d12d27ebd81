import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { clickHouseServer } from "../../../test/clickhouse-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { ChdbError, ChdbSessions } from "./chdb-sessions.ts";
import { migrateClickHouse } from "./migrate.ts";
import { openClickHouse } from "./open-clickhouse.ts";

const db = await testDatabase();
const directory = mkdtempSync(join(tmpdir(), "heddle-chdb-"));
const engine = { directory, connections: 2, database: "default", settings: {}, maxMemory: 1024 ** 3 };
const sessions = await ChdbSessions.open(engine);
const { url, server, queries } = await clickHouseServer(sessions);
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await sessions.close();
  rmSync(directory, { recursive: true, force: true });
});

const options = { url: `${url}/traces`, cluster: "", directory: "", connections: 4, maxMemory: 0 };

test("creates tables and stores rows with parameters over HTTP on the server named by the URL", async () => {
  const clickhouse = await openClickHouse(options);
  expect(clickhouse.embedded).toBe(false);
  expect((await migrateClickHouse(clickhouse, db.sql)).applied.length).toBeGreaterThan(0);
  expect((await migrateClickHouse(clickhouse, db.sql)).applied).toEqual([]);
  const id = "01a1fe61-149d-7000-a1fb-693caeeeca93";
  const key = { tenant_id: id, id, project_id: id, start_time: "2026-11-21 10:00:00.000001", trace_id: id };
  const row = { ...key, deleted: false, version: "2026-11-21 10:00:00.000001" };
  await clickhouse.insert("run_keys", Object.keys(row), Buffer.from(`${JSON.stringify(row)}\n`));
  const found = await clickhouse.rows({
    name: "find me",
    query:
      "select * from run_keys final where tenant_id = {t:UUID} and id in {ids:Array(UUID)} and {text:String} = 'it''s\t'",
    params: { t: id, ids: [id], text: "it's\t" },
  });
  expect(found).toEqual([row]);
  expect(queries.some((query) => query.startsWith("/* find me */"))).toBe(true);
  await expect(clickhouse.rows({ name: "t", query: "select * from nowhere" })).rejects.toMatchObject({ code: "60" });
  await clickhouse.close();
});

test("fails at start when the server does not answer", async () => {
  await expect(openClickHouse({ ...options, url: "http://127.0.0.1:9" })).rejects.toMatchObject({
    code: "ECONNREFUSED",
    message: expect.stringMatching(/^Cannot use the ClickHouse at 127\.0\.0\.1:9 \(CLICKHOUSE_URL\): .*ECONNREFUSED/),
  });
});

test.each(["nonsense:secret", "localhost:8123", "tcp://u:secret@localhost:9000/x"])(
  "rejects an invalid ClickHouse URL with an error that names the setting but not the password: %s",
  async (wrong) => {
    await expect(openClickHouse({ ...options, url: wrong })).rejects.toThrow(
      /^CLICKHOUSE_URL must look like (?!.*secret)/,
    );
  },
);

test("rejects a directory in use with a message that names the process and the setting", async () => {
  const rejected = ChdbSessions.open(engine);
  await expect(rejected).rejects.toThrow(ChdbError);
  await expect(rejected).rejects.toThrow(/is in use: process \d+ since \S+ holds .*CLICKHOUSE_URL/);
});
