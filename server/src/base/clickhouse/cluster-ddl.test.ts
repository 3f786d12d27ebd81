import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { forCluster } from "./cluster-ddl.ts";
import { MIGRATIONS, splitStatements } from "./migrate.ts";

test("leaves a statement unchanged on a single server", () => {
  expect(forCluster("create table x (a Int8) engine = MergeTree order by a", "")).toEqual([
    "create table x (a Int8) engine = MergeTree order by a",
  ]);
});

test("creates a replicated table per shard and a distributed table on a cluster", () => {
  const [local, front] = forCluster(
    "-- shard by: cityHash64(a)\ncreate table if not exists x (a Int8)\nengine = ReplacingMergeTree(a)\norder by a",
    "main",
  );
  expect(local).toContain("create table if not exists x_local on cluster `main` (a Int8)");
  expect(local).toContain(
    "engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', a)",
  );
  expect(front).toBe(
    "create table if not exists x on cluster `main` as x_local " +
      "engine = Distributed('main', currentDatabase(), x_local, cityHash64(a))",
  );
});

test('alters both tables, and with "local only" only the local one', () => {
  expect(forCluster("alter table x add column b Int8", "c")).toEqual([
    "alter table x_local on cluster `c` add column b Int8",
    "alter table x on cluster `c` add column b Int8",
  ]);
  expect(forCluster("-- local only\nalter table x add index i b type minmax", "c")).toHaveLength(1);
});

test("converts each migration for a cluster", () => {
  for (const file of readdirSync(MIGRATIONS)) {
    for (const statement of splitStatements(readFileSync(join(MIGRATIONS, file), "utf8"))) {
      expect(forCluster(statement, "c").join("\n")).toContain("on cluster `c`");
    }
  }
});
