/** Order of claims when one workspace has queued more exports than can run. */
import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { claimExport } from "./queue-sql.ts";

const db = await testDatabase();
const { sql } = db;

async function queueExports(tenant: string, count: number): Promise<void> {
  const destination = randomUUID();
  await sql`insert into export_destinations (id, tenant_id, display_name, config, credentials_keys)
    values (${destination}, ${tenant}, 'a bucket', '{}', '{}')`;
  await sql`insert into bulk_exports
      (id, tenant_id, destination_id, session_id, start_time, end_time, format_version, compression, status)
    select gen_random_uuid(), ${tenant}, ${destination}, gen_random_uuid(), now() - interval '1 day', now(), 'v1', 'none',
      'CREATED' from generate_series(1, ${count})`;
}

const claim = async (more: { limit?: number; keepsRoom?: boolean } = {}) =>
  (await claimExport(sql, { limit: 3, keepsRoom: false, leaseSeconds: 60, now: new Date(), ...more }))?.tenant_id;

test("workspaces take turns at exports, and the last slot is reserved for one without running exports", async () => {
  const [flood, other] = [randomUUID(), randomUUID()];
  await queueExports(flood, 10_000);
  // without competition it gets every place
  expect([await claim(), await claim({ keepsRoom: true })]).toEqual([flood, flood]);
  await queueExports(other, 2);
  expect([await claim(), await claim()]).toEqual([other, other]);
  expect(await claim({ keepsRoom: true })).toBeUndefined();
  expect([await claim(), await claim()]).toEqual([flood, undefined]);

  const startedAt = performance.now();
  for (let n = 0; n < 10; n++) await claim();
  // each pass of an exporter claims, and blocks other exporters' claims until it is done
  expect((performance.now() - startedAt) / 10).toBeLessThan(250);
});
