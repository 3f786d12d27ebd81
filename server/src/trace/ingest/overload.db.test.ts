import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const { call, clickhouse, sql, platform } = await testTracePlatform({
  HEDDLE_INGEST_MEMORY_MB: "4",
});

const run = (id: string, size: number) => ({
  id,
  name: "n",
  run_type: "chain",
  inputs: { text: "x".repeat(size) },
});

test("requests beyond the memory limit wait or get 429 with Retry-After, and acknowledged ones are stored", async () => {
  const ids = Array.from({ length: 60 }, () => uuid7());
  const answers = await Promise.all(
    ids.map(async (id) => ({
      id,
      ...(await call("POST", "/runs", run(id, 1_000_000))),
    })),
  );
  for (const { status, headers } of answers) {
    expect([`202 null`, `429 2`]).toContain(`${status} ${headers.get("retry-after")}`);
  }
  const accepted = answers.filter(({ status }) => status === 202).map(({ id }) => id);
  const rows = await clickhouse.rows<{ id: string }>({
    name: "t",
    query: "select id from runs final where id in {ids:Array(UUID)} and length(inputs) > 1000000",
    params: { ids: accepted },
  });
  expect(rows.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());
  expect(accepted.length).toBeGreaterThan(0);
});

test("an update whose create never arrives becomes a run after a day", async () => {
  const id = uuid7();
  expect((await call("PATCH", `/runs/${id}`, { outputs: { kept: true } })).status).toBe(202);
  await sql`update waiting_pieces set received_at = now() - interval '25 hours' where run_id = ${id}`;
  const read = () =>
    clickhouse.rows({
      name: "t",
      query: "select outputs from runs final where id = {id:UUID}",
      params: { id },
    });
  await expect.poll(read).toEqual([{ outputs: '{"kept":true}' }]);
  await expect.poll(() => sql`select 1 from waiting_pieces`).toHaveLength(0);
});

test("responds with 503 and Retry-After when the store is down, and acknowledges nothing", async () => {
  await platform.deps.clickhouse.close();
  const { status, headers } = await call("POST", "/runs", run(uuid7(), 10));
  expect([status, headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
});
