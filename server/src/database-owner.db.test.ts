/** Complete agent servers of several workspaces, started on one database. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, expect, test, vi } from "vitest";

import { type TestDatabase, testDatabase } from "../test/db.ts";
import { testWorkspace } from "../test/identity.ts";
import { startAgentServer } from "./main.ts";
import type { RunningAgentServer } from "./roles/agent-role.ts";

const PROJECT = fileURLToPath(new URL("../test/fixtures/agent-project/langgraph.json", import.meta.url));
const LAUNCHER = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), "heddle-owner-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const running: RunningAgentServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** Starts a server. Its environment is read before the first await, so that starts may overlap. */
async function start(db: TestDatabase, workspaceId?: string): Promise<RunningAgentServer> {
  const env = { HEDDLE_HOSTS: "1", HEDDLE_SHUTDOWN_GRACE_SECS: "0", HEDDLE_LOG_LEVEL: "silent" };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  vi.stubEnv("HEDDLE_WORKSPACE_ID", workspaceId);
  const database = { uri: db.uri, socket: db.options.host ?? null };
  const starting = startAgentServer({
    config: PROJECT,
    host: "127.0.0.1",
    port: 0,
    dataDir,
    database,
    reload: false,
  });
  vi.unstubAllEnvs();
  const server = await starting;
  running.push(server);
  return server;
}

const handOver = (db: TestDatabase, id: string): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], DATABASE_URI: db.uri, HEDDLE_DATA_DIR: dataDir };
    execFile(
      process.execPath,
      [LAUNCHER, "workspaces", "hand-over", "--id", id],
      { cwd: dataDir, env },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });

const owners = ({ sql }: TestDatabase) =>
  sql<{ workspace_id: string }[]>`select workspace_id from database_owner`.then((rows) =>
    rows.map((row) => row.workspace_id),
  );

test(
  "rejects an agent server whose workspace differs from that of the database's servers",
  { timeout: 60_000 },
  async () => {
    const db = await testDatabase();
    const { workspaceId: other } = await testWorkspace(db, "other");
    await start(db);
    const [row] = await db.sql<{ id: string }[]>`select id from workspaces where is_default`;
    const { id: first } = row!;
    const rejected = await start(db, other).then(
      () => "started",
      (error: Error) => error.message,
    );
    const name = new URL(db.uri).pathname.slice(1);
    for (const part of [first, other, name, "HEDDLE_WORKSPACE_ID", "heddle workspaces hand-over"]) {
      expect(rejected).toContain(part);
    }
    // rejected before it wrote anything
    expect((await db.sql`select 1 from servers`).length).toBe(1);
    // a replica, with or without a configured workspace
    await start(db, first);
    await start(db);
    expect(await owners(db)).toEqual([first]);
  },
);

test("of simultaneous first starts for different workspaces one wins and serves", { timeout: 60_000 }, async () => {
  const db = await testDatabase();
  const ids = [randomUUID(), randomUUID(), randomUUID()];
  const outcomes = await Promise.allSettled(ids.map((id) => start(db, id)));
  const won = ids.filter((_, index) => outcomes[index]!.status === "fulfilled");
  expect(won).toHaveLength(1);
  expect(await owners(db)).toEqual(won);
  const workspaces = await db.sql`select id from workspaces`;
  expect(workspaces).toEqual([{ id: won[0] }]);
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
  expect(reasons).toEqual([expect.stringContaining(won[0]!), expect.stringContaining(won[0]!)]);
});

test("an unknown workspace id claims nothing", { timeout: 60_000 }, async () => {
  const db = await testDatabase();
  await start(db);
  await Promise.all(running.splice(0).map((server) => server.close()));
  await db.sql`delete from database_owner`;
  await expect(start(db, randomUUID())).rejects.toThrow("there is no such workspace");
  expect(await owners(db)).toEqual([]);
});

test(
  "hand-over gives a database to another workspace once its servers have stopped",
  { timeout: 120_000 },
  async () => {
    const db = await testDatabase();
    const { workspaceId: other } = await testWorkspace(db, "other");
    await start(db);
    const [first] = await owners(db);
    const early = await handOver(db, other);
    expect(early).toMatchObject({ code: 1, output: expect.stringContaining("Stop") });
    expect(await owners(db)).toEqual([first]);
    await Promise.all(running.splice(0).map((server) => server.close()));

    const unknown = randomUUID();
    expect(await handOver(db, unknown)).toMatchObject({ code: 1, output: expect.stringContaining(unknown) });
    expect(await handOver(db, other)).toMatchObject({ code: 0, output: expect.stringContaining(other) });
    expect(await owners(db)).toEqual([other]);
    await start(db, other);
    // neither by its id nor as the default one
    await expect(start(db, first)).rejects.toThrow(other);
    await expect(start(db)).rejects.toThrow(other);
  },
);
