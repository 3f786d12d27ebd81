import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ClickHouse } from "../src/base/clickhouse/clickhouse.ts";
import { openClickHouse } from "../src/base/clickhouse/open-clickhouse.ts";
import { atEnd } from "./at-end.ts";

/**
 * A separate database on the server that scripts/versions/clickhouse-suite.ts names, dropped at the end of the file.
 */
async function openOnServer(url: string): Promise<ClickHouse> {
  const cluster = process.env["HEDDLE_TEST_CLICKHOUSE_CLUSTER"] ?? "";
  const database = `heddle_test_${randomUUID().replaceAll("-", "")}`;
  const address = new URL(url);
  address.pathname = `/${database}`;
  const clickhouse = await openClickHouse({ url: address.href, cluster, directory: "", connections: 4, maxMemory: 0 });
  atEnd(async () => {
    shared = undefined;
    const onCluster = cluster === "" ? "" : ` on cluster \`${cluster}\``;
    await clickhouse.command({ name: "drop", query: `drop database if exists ${database}${onCluster} sync` });
    await clickhouse.close();
  });
  return clickhouse;
}

/**
 * A real ClickHouse for tests: chDB in a temporary directory, one per test file, because a process can have only one.
 * Later calls in the same file return the same one. The first call belongs at the head of the file: cleanup that a test
 * registers to run after all is not run, and the next file's process would still hold this one. `migrateClickHouse`
 * creates the tables (testTracePlatform calls it); rows of different tests are distinguished by tenant or project.
 */
export function testClickHouse(): Promise<ClickHouse> {
  return (shared ??= open());
}

let shared: Promise<ClickHouse> | undefined;

async function open(): Promise<ClickHouse> {
  const url = process.env["HEDDLE_TEST_CLICKHOUSE_URL"];
  if (url) return openOnServer(url);
  const directory = mkdtempSync(join(tmpdir(), "heddle-chdb-"));
  const clickhouse = await openClickHouse({ url: "", cluster: "", directory, connections: 4, maxMemory: 1024 ** 3 });
  atEnd(async () => {
    shared = undefined;
    await clickhouse.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return clickhouse;
}
