/** The store's migration 0010: copies of a header of Heddle's own in the metadata of runs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { testClickHouse } from "../../../test/clickhouse.ts";
import { testDatabase } from "../../../test/db.ts";
import { MIGRATIONS, migrateClickHouse, splitStatements } from "../../base/clickhouse/migrate.ts";
import { forCluster } from "../../base/clickhouse/cluster-ddl.ts";

const clickhouse = await testClickHouse();
await migrateClickHouse(clickhouse, (await testDatabase()).sql);

test("stored keys of a project's code are removed from runs", async () => {
  const KEY = "0lMCJvmI-_0lMCJvmI0lMCJvmI0lMCJvmI0lMCJvmI0";
  const [tenant, ids] = [crypto.randomUUID(), [crypto.randomUUID(), crypto.randomUUID()]];
  const pairs = (key: string) => `\u001ex-heddle-own-code\u001f${key}\u001ex-team\u001fblue\u001e`;
  const extra = (key: string) => JSON.stringify({ metadata: { "x-heddle-own-code": key, "x-team": "blue" } });
  const rows = [
    { id: ids[0], extra: extra(KEY), metadata: pairs(KEY) },
    { id: ids[1], extra: null, metadata: "\u001ex-team\u001fred\u001e" },
  ].map((row) => ({
    ...row,
    ...{ tenant_id: tenant, project_id: tenant, trace_id: row.id, start_time: "2026-01-01 00:00:00.000000" },
    ...{ updated_at: "2026-01-01 00:00:00.000000" },
  }));
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  await clickhouse.insert("runs", Object.keys(rows[0]!), Buffer.from(lines));
  const read = () =>
    clickhouse.rows<{ extra: string | null; metadata: string }>({
      name: "test.read",
      query: "select extra, metadata from runs where tenant_id = {tenant:UUID} order by extra desc nulls last",
      params: { tenant },
    });
  expect(JSON.stringify(await read())).toContain(KEY);
  const text = readFileSync(join(MIGRATIONS, "0010_stored_headers.sql"), "utf8");
  for (const statement of splitStatements(text))
    for (const query of forCluster(statement, clickhouse.cluster)) await clickhouse.command({ name: "test", query });
  await expect.poll(async () => JSON.stringify(await read())).not.toContain(KEY);
  expect(await read()).toEqual([
    { extra: extra(""), metadata: pairs("") },
    { extra: null, metadata: "\u001ex-team\u001fred\u001e" },
  ]);
});
