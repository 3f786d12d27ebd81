import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { expect, test } from "vitest";

import { bind, ch } from "../../base/clickhouse/fragment.ts";
import { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { testClickHouse } from "../../../test/clickhouse.ts";
import { readRows } from "./read-rows.ts";

const clickhouse = await testClickHouse();

test("returns a statement's rows, with bound values", async () => {
  expect(await readRows(clickhouse, "test", ch`select ${bind("String", "'; drop")} as text`)).toEqual([
    { text: "'; drop" },
  ]);
});

test("a query over the time limit is a 422, so that clients do not retry it", async () => {
  const slow = ch`select count() from numbers(100) where sleepEachRow(0.1) = 0`;
  await expect(
    readRows(clickhouse, "test", slow, { max_execution_time: 1, max_block_size: "1" }),
  ).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining("Narrow its time range"),
  });
});

test("a query over the memory limit can be retried", async () => {
  const large = ch`select groupArray(number) as all from numbers(10000000)`;
  await expect(readRows(clickhouse, "test", large, { max_memory_usage: "10000000" })).rejects.toMatchObject({
    status: 503,
    headers: { "Retry-After": "2" },
  });
});

test("a query during an outage of the store can be retried", async () => {
  const client = createClient({ url: "http://127.0.0.1:9", log: { level: ClickHouseLogLevel.OFF } });
  const unreachable = new ClickHouse(client, { cluster: "", embedded: false });
  await expect(readRows(unreachable, "test", ch`select 1`)).rejects.toMatchObject({ status: 503 });
  await unreachable.close();
});

test("an invalid statement stays an internal error", async () => {
  await expect(readRows(clickhouse, "test", ch`select nonsense`)).rejects.not.toHaveProperty("status");
});
