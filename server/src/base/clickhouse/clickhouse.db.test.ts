import { expect, test } from "vitest";

import { testClickHouse } from "../../../test/clickhouse.ts";
import { testDatabase } from "../../../test/db.ts";
import { migrateClickHouse } from "./migrate.ts";
import { deferred } from "../deferred.ts";
import { ClickHouse } from "./clickhouse.ts";

const db = await testDatabase();
const clickhouse = await testClickHouse();

test("applies each migration once, also when several servers start together", async () => {
  const both = await Promise.all([migrateClickHouse(clickhouse, db.sql), migrateClickHouse(clickhouse, db.sql)]);
  expect(both.map(({ applied }) => applied.length).sort()).toEqual([
    0,
    both[0]!.applied.length + both[1]!.applied.length,
  ]);
  const tables = await clickhouse.rows({
    name: "t",
    query:
      "select name, engine from system.tables where database = currentDatabase() and name like 'run%' order by name",
  });
  expect(tables).toEqual(
    expect.arrayContaining([
      { name: "run_keys", engine: "ReplacingMergeTree" },
      { name: "runs", engine: "CoalescingMergeTree" },
    ]),
  );
});

test("limits the parts per merge of runs to save memory", async () => {
  const [table] = await clickhouse.rows<{ engine_full: string }>({
    name: "t",
    query: "select engine_full from system.tables where database = currentDatabase() and name = 'runs'",
  });
  expect(table!.engine_full).toContain("max_parts_to_merge_at_once = 4");
});

test("returns free memory to the system, and continues where the engine cannot", async () => {
  const statements: string[] = [];
  const client = {
    command: async ({ query }: { query: string }) => {
      statements.push(query);
      throw new Error("The server was compiled without jemalloc");
    },
  } as unknown as ClickHouse["client"];
  await new ClickHouse(client, { cluster: "", embedded: true }).releaseMemory();
  await new ClickHouse(client, { cluster: "", embedded: false }).releaseMemory();
  expect(statements).toEqual([expect.stringContaining("system jemalloc purge")]);
  // the engine of the tests can
  if (clickhouse.embedded) await clickhouse.command({ name: "t", query: "system jemalloc purge" });
});

test("an engine in this process repeats an answer until something is written, if it may", async () => {
  const ask = async (isRepeatable: boolean, tenant = "one") => {
    const query = { name: "t", query: "select toString(generateUUIDv4()) as id", isRepeatable };
    return (await clickhouse.forTenant(tenant).rows<{ id: string }>(query))[0]!.id;
  };
  const first = await ask(true);
  expect((await ask(true)) === first).toBe(clickhouse.embedded);
  expect(await ask(false)).not.toBe(await ask(false));
  await clickhouse.insert(
    "run_keys",
    ["tenant_id"],
    Buffer.from('{"tenant_id":"00000000-0000-7000-8000-000000000001"}\n'),
  );
  const second = await ask(true);
  expect(second).not.toBe(first);
  await clickhouse.command({ name: "t", query: "alter table run_keys delete where true" });
  expect(await ask(true)).not.toBe(second);
});

test("rejects a store that a newer Heddle has written", async () => {
  await clickhouse.insert(
    "heddle_migrations",
    ["version", "name"],
    Buffer.from('{"version":9999,"name":"9999_later.sql"}\n'),
  );
  await expect(migrateClickHouse(clickhouse, db.sql)).rejects.toThrow(/newer Heddle/);
  await clickhouse.command({ name: "t", query: "delete from heddle_migrations where version = 9999" });
  expect((await migrateClickHouse(clickhouse, db.sql)).applied).toEqual([]);
});

const NASTY = [
  "",
  "it's",
  "a\\b",
  "tab\tand\nline\r",
  "'); drop table runs; --",
  "{x:String}",
  "nul\0",
  "ünïcødé 🧵",
  "\\N",
  "NULL",
];

test("passes values as parameters unchanged, alone and in arrays", async () => {
  for (const value of NASTY) {
    const [row] = await clickhouse.rows<{ v: string; l: string[]; n: string | null }>({
      name: "t",
      query: "select {v:String} as v, {l:Array(String)} as l, {n:Nullable(String)} as n",
      params: { v: value, l: NASTY, n: null },
    });
    expect(row).toEqual({ v: value, l: NASTY, n: null });
  }
  const [row] = await clickhouse.rows({
    name: "t",
    query:
      "select {a:UInt64} as a, {b:Bool} as b, {c:Array(Nullable(Int64))} as c, {d:Decimal(38, 18)} as d, {t:DateTime64(6, 'UTC')} as t",
    params: {
      a: 9_007_199_254_740_991,
      b: true,
      c: [1, null, -3],
      d: "0.000000000000000001",
      t: "2026-11-21 10:00:00.123456",
    },
  });
  expect(row).toEqual({
    a: 9_007_199_254_740_991,
    b: true,
    c: [1, null, -3],
    d: "0.000000000000000001",
    t: "2026-11-21 10:00:00.123456",
  });
});

test("concurrent queries keep their parameters and settings apart", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      clickhouse.rows<{ v: number; m: string }>({
        name: "t",
        query: "select {v:UInt32} as v, getSetting('max_block_size')::String as m",
        params: { v: n },
        settings: n % 2 ? { max_block_size: String(1000 + n) } : {},
      }),
    ),
  );
  const byDefault = answers[0]![0]!.m;
  expect(answers.map((rows) => rows[0])).toEqual(
    Array.from({ length: 200 }, (_, n) => ({ v: n, m: n % 2 ? String(1000 + n) : byDefault })),
  );
});

test("a missing parameter is an error and does not take the value of an earlier query", async () => {
  const query = { name: "t", query: "select {left_over:String} as v" };
  await clickhouse.rows({ ...query, params: { left_over: "secret" } });
  await expect(clickhouse.rows(query)).rejects.toThrow(/left_over/);
});

test("errors contain ClickHouse's code", async () => {
  await expect(clickhouse.rows({ name: "t", query: "select * from nowhere" })).rejects.toMatchObject({ code: "60" });
});

test("waiting reads leave a connection for writes", async () => {
  await clickhouse.command({
    name: "t",
    query: "create table if not exists writable (n UInt32) engine = MergeTree order by n",
  });
  let slowDone = 0;
  const slow = Array.from({ length: 8 }, () =>
    clickhouse.rows({ name: "t", query: "select sleep(2)" }).then(() => slowDone++),
  );
  await clickhouse.insert("writable", ["n"], Buffer.from('{"n":1}\n'));
  expect(slowDone).toBeLessThan(8);
  await Promise.all(slow);
  expect(await clickhouse.rows({ name: "t", query: "select n from writable" })).toEqual([{ n: 1 }]);
});

test("an idle store has no log tables", async () => {
  const logs = await clickhouse.rows({
    name: "t",
    query:
      "select name from system.tables where database = 'system' and name like '%\\\\_log' and engine like '%MergeTree'",
  });
  expect(logs).toEqual([]);
});

test("passes the priority and the threads of a tenant's share to the engine", async () => {
  const ask = async (tenant: string) => {
    const [row] = await clickhouse.forTenant(tenant).rows<{ priority: number; threads: number; nice: number }>({
      name: "t",
      query: `
        select getSetting('priority') as priority, toUInt64(getSetting('max_threads')) as threads,
          getSetting('os_thread_priority') as nice`,
    });
    return row;
  };
  const all = (await ask(""))!.threads;
  expect(await ask("light")).toEqual({ priority: 2, threads: all, nice: 0 });
  clickhouse.share!.charge("heavy", 5000);
  expect(await ask("heavy")).toEqual({ priority: 2, threads: Math.max(1, Math.floor(all / 2)), nice: 19 });
  expect(await ask("light")).toEqual({ priority: 1, threads: all, nice: 0 });
  // of the platform's own nothing is left of the statements before
  expect(await ask("")).toEqual({ priority: 0, threads: all, nice: 0 });
});

test("a statement of a tenant above its share pauses at each block while another's runs", async () => {
  clickhouse.share!.charge("heavy", 60_000);
  await clickhouse.forTenant("light").rows({ name: "t", query: "select 1" });
  const order: string[] = [];
  const run = async (tenant: string, query: string) => {
    await clickhouse.forTenant(tenant).rows({ name: "t", query });
    order.push(tenant);
  };
  const light = run("light", "select sleepEachRow(0.1) from numbers(10) settings max_block_size = 1");
  const running = {
    name: "t",
    query: "select count() as n from system.processes where query like '%sleepEach' || 'Row%'",
  };
  await expect.poll(() => clickhouse.rows(running), { interval: 10 }).toEqual([{ n: 1 }]);
  // 400 blocks, a few milliseconds where nothing pauses them
  const heavy = run("heavy", "select sum(number) from numbers(400000) settings max_block_size = 1000");
  await Promise.all([light, heavy]);
  expect(order).toEqual(["light", "heavy"]);
});

test("delays background work of a tenant above its share, but not its callers' queries, during another's query", async () => {
  const share = clickhouse.share!;
  share.charge("heavy", 60_000);
  await share.run("light", () => Promise.resolve());
  const end = deferred<void>();
  const light = share.run("light", () => end.promise);
  const timed = async (store: ClickHouse) => {
    const startedAt = performance.now();
    await store.rows({ name: "t", query: "select 1" });
    return performance.now() - startedAt;
  };
  expect(await timed(clickhouse.inBackgroundFor("heavy"))).toBeGreaterThanOrEqual(249);
  expect(await timed(clickhouse.forTenant("heavy"))).toBeLessThan(249);
  expect(await timed(clickhouse.inBackgroundFor("light"))).toBeLessThan(249);
  end.resolve();
  await light;
});
