import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

import { EmbeddedPostgres, type PostgresAddress, stopAbandonedPostgres } from "./embedded-postgres.ts";
import { identifyProcess, isProcessAlive, type ProcessIdentity } from "./process-identity.ts";

const USER_SCRIPT = fileURLToPath(new URL("../../../test/fixtures/postgres-user.ts", import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const NOBODY_UID = 65_534;
const canRunAsNobody =
  process.getuid?.() === 0 &&
  spawnSync("/bin/sh", ["-c", 'test -r "$0" && test -x "$1"', USER_SCRIPT, process.execPath], {
    uid: NOBODY_UID,
    gid: NOBODY_UID,
    cwd: "/",
  }).status === 0;

let createdDir: string;
let dataDir: string;
let children: ChildProcess[];

beforeAll(async () => {
  createdDir = mkdtempSync(join(tmpdir(), "heddle-pg-"));
  const embedded = new EmbeddedPostgres({ dataDir: createdDir });
  await embedded.start();
  await embedded.stop();
});

afterAll(() => rmSync(createdDir, { recursive: true }));

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "heddle-pg-"));
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await sleep(20);
  await stopAbandonedPostgres(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
});

const postmasterFile = () => join(dataDir, "postgres", "data", "postmaster.pid");

/** Starts a server on a copy of the cluster, as the given user, whose Postgres outlives it by a second. */
async function startServer(uid?: number) {
  if (uid === undefined) execFileSync("cp", ["-a", `${createdDir}/.`, dataDir]);
  else chownSync(dataDir, uid, uid);
  const args = ["--import", TSX, USER_SCRIPT, dataDir, JSON.stringify({ lingerSeconds: 1 })];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    ...(uid !== undefined && { uid, gid: uid, env: { PATH: process.env["PATH"] }, cwd: "/" }),
  });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const postmaster = identifyProcess(Number(readFileSync(postmasterFile(), "utf8").split("\n")[0]))!;
  return { child, postmaster, address: JSON.parse(line) as PostgresAddress };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function livesFor(ms: number, postmaster: ProcessIdentity): Promise<boolean> {
  await sleep(ms);
  return isProcessAlive(postmaster);
}

const hasEnded = async (postmaster: ProcessIdentity) =>
  await expect.poll(() => isProcessAlive(postmaster), { timeout: 10_000 }).toBe(false);

test.each(canRunAsNobody ? [undefined, NOBODY_UID] : [undefined])(
  "stops Postgres cleanly some seconds after its server was killed (user %s)",
  async (uid) => {
    const { child, postmaster } = await startServer(uid);
    expect(await livesFor(2_500, postmaster)).toBe(true);
    await kill(child);
    await hasEnded(postmaster);
    expect(existsSync(postmasterFile())).toBe(false);
  },
);

test("keeps Postgres running while its server is frozen or an unregistered client is connected", async () => {
  const { child, postmaster, address } = await startServer();
  child.kill("SIGSTOP");
  expect(await livesFor(2_500, postmaster)).toBe(true);
  const client = postgres(address.uri, { ...(address.socket && { host: address.socket }), max: 1 });
  await client`select 1`;
  await kill(child);
  expect(await livesFor(2_500, postmaster)).toBe(true);
  await client.end();
  await hasEnded(postmaster);
});

test("keeps Postgres running while a client is connected over TCP", async () => {
  const { child, postmaster, address } = await startServer();
  const client = postgres(address.uri, { max: 1 });
  await client`select 1`;
  await kill(child);
  expect(await livesFor(2_500, postmaster)).toBe(true);
  await client.end();
});

test("keeps a Postgres adopted by another server running, with one guardian", async () => {
  const { child, postmaster } = await startServer();
  await kill(child);
  const adopting = new EmbeddedPostgres({ dataDir, lingerSeconds: 1 });
  await adopting.start();
  try {
    const guardians = () =>
      execFileSync("pgrep", ["-f", `heddle-postgres-guardian ${dataDir}`], { encoding: "utf8" })
        .trim()
        .split("\n");
    await expect.poll(guardians, { timeout: 15_000 }).toHaveLength(1);
    expect(await livesFor(1_500, postmaster)).toBe(true);
  } finally {
    await adopting.stop();
  }
});
