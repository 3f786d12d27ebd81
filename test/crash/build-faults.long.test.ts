/**
 * Builds lose what they depend on. Disk full (shared with Postgres, as on a single machine): the build fails with the
 * reason, and the serving revision keeps serving. Database killed or unavailable for long: the build continues without
 * intervention.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";

import { testDataDirectory } from "../../server/test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  revisionStatus,
  untilStatus,
  upload,
} from "../../server/test/deploy.ts";
import { ControlProcess } from "./control-process.ts";

const directory = testDataDirectory();
// Postgres does not run as root, and its user needs access to its data
chmodSync(directory, 0o755);
const isMounted =
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=320m,mode=755", "tmpfs", directory], { stdio: "ignore" }).status === 0;
const control = await ControlProcess.create(directory, "");
const call = control.call;
let id = "";

beforeAll(async () => {
  await control.start({ HEDDLE_LOG_LEVEL: "warn" });
  id = await createDeployment(call, "faults");
  await untilStatus(call, id, await deployArchive(call, id, createArchive(graphProject("first"))), "DEPLOYED", 60_000);
}, 120_000);
afterAll(async () => {
  await control.end("SIGTERM");
  if (isMounted) execFileSync("umount", ["-l", directory]);
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

const word = async (): Promise<unknown> => {
  const response = await fetch(`${control.url}/d/faults/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: {} }),
  });
  return ((await response.json()) as { word?: unknown }).word;
};
const untilWord = (expected: string) =>
  vi.waitUntil(async () => (await word()) === expected, { timeout: 30_000, interval: 100 });
const builds = () => readdirSync(join(directory, "control", "builds"));
const unfinished = () => builds().filter((name) => !existsSync(join(directory, "control/builds", name, "complete")));
/** Returns a project that a script installs. */
const installing = (name: string, script: string): [Buffer, object] => [
  createArchive(graphProject(name, { "install.sh": script })),
  { source_config: { install_command: "sh install.sh" } },
];
const slow = (name: string, seconds: number) =>
  installing(name, `for n in $(seq ${seconds * 2}); do echo line $n of ${name}; sleep 0.5; done`);
const postmaster = (): number =>
  Number(readFileSync(join(directory, "postgres/data/postmaster.pid"), "utf8").split("\n")[0]);

test.skipIf(!isMounted)("a build that fills the disk fails with the reason and frees the space", async () => {
  const before = builds();
  const filling = installing("filling", "head -c 2000000000 /dev/zero > big; ls -l big; exit 3");
  const revision = await deployArchive(call, id, ...filling);
  await untilStatus(call, id, revision, "BUILD_FAILED", 60_000);
  const log = (await logLines(call, id, revision, "build")).join("\n");
  expect(log).toMatch(/No space left on device|The disk is too full for this build/);
  expect(builds()).toEqual(before);
  await untilWord("first");
});

test.skipIf(!isMounted)(
  "a control plane on a full disk accepts no archives and builds, and accepts both once space is free",
  async () => {
    const before = builds();
    const archive = createArchive(graphProject("zeros", { "zeros.txt": "0".repeat(12_000_000) }));
    const path = await upload(call, id, archive);
    const filler = join(directory, "filler");
    onTestFinished(() => rmSync(filler, { force: true }));
    // room for the database's own work, but not for the unpacked archive
    const { bavail, bsize } = await import("node:fs").then(({ statfsSync }) => statfsSync(directory));
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 8_000_000));
    const changed = await call("PATCH", `/v2/deployments/${id}`, {
      source_config: { install_command: "true" },
      source_revision_config: { source_tarball_path: path, langgraph_config_path: "langgraph.json" },
    });
    const revision = changed.json.latest_revision_id as string;
    await untilStatus(call, id, revision, "BUILD_FAILED", 60_000);
    const { json } = await call("GET", `/v2/deployments/${id}/revisions/${revision}`);
    expect(json.status_message).toContain("The disk is too full for this build");
    expect((await logLines(call, id, revision, "build")).at(-1)).toContain("The disk is too full for this build");
    expect(await word()).toBe("first");
    expect(builds()).toEqual(before);

    const target = await call("POST", `/v2/deployments/${id}/upload-url`);
    const url = new URL(target.json.upload_url);
    const large = createArchive({ "langgraph.json": "{}" });
    const body = new Uint8Array(Buffer.concat([large, Buffer.alloc(30_000_000)]));
    const rejected = await call("PUT", url.pathname + url.search, body, { "Content-Type": "application/gzip" });
    expect(`${rejected.status} ${rejected.text}`).toMatch(/^503 .*the server's disk is full/);

    rmSync(filler);
    const again = await deployArchive(call, id, createArchive(graphProject("roomy")));
    await untilStatus(call, id, again, "DEPLOYED", 60_000);
    expect(await word()).toBe("roomy");
  },
  120_000,
);

test("Postgres killed during a build: it continues, and each line is in the log", async () => {
  const revision = await deployArchive(call, id, ...slow("killed", 5));
  await untilStatus(call, id, revision, "BUILDING");
  await sleep(1000);
  process.kill(postmaster(), "SIGKILL");
  await vi.waitUntil(() => revisionStatus(call, id, revision).catch(() => undefined), {
    timeout: 20_000,
    interval: 100,
  });
  await untilStatus(call, id, revision, "DEPLOYED", 60_000);
  const lines = (await logLines(call, id, revision, "build")).filter((line) => /^line \d+ of killed$/.test(line));
  expect(lines).toEqual(Array.from({ length: 10 }, (_, n) => `line ${n + 1} of killed`));
  await untilWord("killed");
}, 120_000);

test("Postgres down for 20 s: the build restarts, and the serving revision serves again", async () => {
  const revision = await deployArchive(call, id, ...slow("dead", 6));
  await untilStatus(call, id, revision, "BUILDING");
  await sleep(500);
  // Postgres cannot start without this file
  const configuration = join(directory, "postgres/data/postgresql.conf");
  renameSync(configuration, `${configuration}.away`);
  process.kill(postmaster(), "SIGKILL");
  await sleep(20_000);
  expect((await fetch(`${control.url}/v2/deployments/${id}`)).status).toBe(503);
  renameSync(`${configuration}.away`, configuration);
  await vi.waitUntil(() => revisionStatus(call, id, revision).catch(() => undefined), {
    timeout: 30_000,
    interval: 100,
  });
  await untilStatus(call, id, revision, "DEPLOYED", 90_000);
  await untilWord("dead");
  expect(unfinished()).toEqual([]);
}, 180_000);

test("Postgres frozen for 12 s: the build restarts, and the serving revision serves again", async () => {
  const revision = await deployArchive(call, id, ...slow("silent", 6));
  await untilStatus(call, id, revision, "BUILDING");
  await sleep(500);
  const all = execFileSync("ps", ["-o", "pid=", "--ppid", String(postmaster())], { encoding: "utf8" })
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);
  const everybody = [postmaster(), ...all];
  for (const pid of everybody) signalTo(pid, "SIGSTOP");
  // longer than the lease
  await sleep(12_000);
  for (const pid of everybody) signalTo(pid, "SIGCONT");
  await vi.waitUntil(() => revisionStatus(call, id, revision).catch(() => undefined), {
    timeout: 30_000,
    interval: 100,
  });
  await untilStatus(call, id, revision, "DEPLOYED", 90_000);
  await untilWord("silent");
  expect(unfinished()).toEqual([]);
}, 180_000);

function signalTo(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // the backend has already exited
  }
}
