import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import type { TestProject } from "vitest/node";
import { migrate } from "../src/base/db/migrate.ts";
import { EmbeddedPostgres, stopAbandonedPostgres } from "../src/base/db/embedded-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Administrator's address, and the template that test databases are cloned from. */
    testCluster: { uri: string; socket: string | null; template: string; keepNote: string };
  }
}

const PREFIX = "heddle-test-";
const KEPT = "heddle-kept-";

/** Global setup (vitest) of the projects that need a database: one cluster and one template per run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const outside = process.env["TEST_DATABASE_URI"];
  const template = `heddle_template_${process.pid}`;
  if (outside) {
    await makeTemplate(outside, null, template);
    project.provide("testCluster", { uri: outside, socket: null, template, keepNote: "on TEST_DATABASE_URI" });
    return () => dropTemplate(outside, template);
  }

  await sweep();
  const dir = mkdtempSync(join(tmpdir(), PREFIX));
  const cluster = new EmbeddedPostgres({
    dataDir: dir,
    // Tests that kill Postgres use their own clusters.
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "400" },
  });
  const { uri, socket } = await cluster.start();
  await makeTemplate(uri, socket, template);
  const kept = join(tmpdir(), `${KEPT}${process.pid}`);
  const keepNote = `afterwards: node --import tsx server/test/kept.ts ${kept}`;
  project.provide("testCluster", { uri, socket, template, keepNote });
  return async () => {
    const failed = await hasKeptDatabases(uri, socket);
    await cluster.stop();
    if (!failed) return rmSync(dir, { recursive: true, force: true });
    for (const name of readdirSync(tmpdir())) {
      if (name.startsWith(KEPT)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
    }
    renameSync(dir, kept);
  };
}

/** Removes clusters of runs that were killed. */
async function sweep(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const dir = join(tmpdir(), name);
    if (!name.startsWith(PREFIX) || !existsSync(join(dir, "postgres", "users"))) continue;
    try {
      if (await stopAbandonedPostgres(dir)) rmSync(dir, { recursive: true, force: true });
    } catch {
      // Owned by another user, or being removed by another run.
    }
  }
}

async function makeTemplate(uri: string, socket: string | null, template: string): Promise<void> {
  const admin = postgres(uri, { ...(socket && { host: socket }), max: 1 });
  await admin`create database ${admin(template)}`.finally(() => admin.end());
  const sql = postgres(uri, { ...(socket && { host: socket }), database: template, max: 1, onnotice: () => {} });
  await migrate(sql).finally(() => sql.end());
}

async function dropTemplate(uri: string, template: string): Promise<void> {
  const admin = postgres(uri, { max: 1 });
  await admin`drop database if exists ${admin(template)}`.finally(() => admin.end());
}

async function hasKeptDatabases(uri: string, socket: string | null): Promise<boolean> {
  const sql = postgres(uri, { ...(socket && { host: socket }), max: 1 });
  const rows = await sql`select 1 from pg_database where datname like 'test\\_%'`.finally(() => sql.end());
  return rows.length > 0;
}
