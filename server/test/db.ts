import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { inject, type RunnerTask } from "vitest";
import type { Sql } from "../src/base/db/connect.ts";
import { atEnd } from "./at-end.ts";

/**
 * A real Postgres for tests.
 *
 * Name the file `*.db.test.ts`, or after another kind that has the cluster (vitest.config.ts); then vitest starts one temporary cluster for the
 * run (cluster.ts), applies the migrations to a template database, and each call here clones that template (about
 * 50 ms):
 *
 *     const db = await testDatabase();          // at the top of the file, or in beforeAll
 *     await db.sql`select 1`;                   // a small pool on the clone
 *     startSomething({ databaseUri: db.uri });  // TCP, usable by any process
 *     postgres(db.uri, db.options);             // the same over the Unix socket
 *
 * After the file's tests the pool is closed and the database dropped, together with any remaining connections. When a
 * test of the file failed it is kept, and its name printed. `TEST_DATABASE_URI` names an external Postgres (a
 * superuser's address) to use instead of the temporary cluster.
 *
 * Tests that kill Postgres need their own: `new EmbeddedPostgres({ dataDir: mkdtempSync(...) })`.
 */
export interface TestDatabase {
  uri: string;
  /** Options for `postgres(uri, options)`: the Unix socket, where there is one. */
  options: { host?: string };
  sql: Sql;
  /** Closes `sql` and drops the database now. */
  drop(): Promise<void>;
}

export async function testDatabase(): Promise<TestDatabase> {
  const cluster = inject("testCluster");
  if (!cluster)
    throw new Error(
      "testDatabase() works in *.db.test.ts files and other kinds that have the cluster (vitest.config.ts)",
    );
  const options = cluster.socket ? { host: cluster.socket } : {};
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await administer(async (admin) => admin`create database ${admin(name)} template ${admin(cluster.template)}`);

  const address = new URL(cluster.uri);
  address.pathname = `/${name}`;
  const uri = address.href;
  const sql = postgres(uri, { ...options, max: 4, onnotice: () => {} });
  let dropped = false;
  const drop = async () => {
    if (dropped) return;
    dropped = true;
    await sql.end({ timeout: 5 });
    await administer(async (admin) => admin`drop database if exists ${admin(name)} with (force)`);
  };
  atEnd(async (suite) => {
    if (!dropped && hasFailed(suite)) {
      await sql.end({ timeout: 5 });
      console.error(`kept database ${name} (${cluster.keepNote})`);
    } else await drop();
  });
  return { uri, options, sql, drop };

  async function administer(work: (admin: Sql) => Promise<unknown>): Promise<void> {
    const admin = postgres(cluster.uri, { ...options, max: 1, fetch_types: false, onnotice: () => {} });
    await work(admin).finally(() => admin.end());
  }
}

function hasFailed(task: RunnerTask): boolean {
  if (task.result?.state === "fail") return true;
  return "tasks" in task && task.tasks.some(hasFailed);
}
