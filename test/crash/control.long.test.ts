/**
 * The control plane is killed at each point of a deployment. Its successor finishes the revision: one agent server
 * runs, no instance was started twice at the same time, no remains of a build are left, and a running server survives.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test, vi } from "vitest";

import { dropDeploymentDatabases, testDataDirectory } from "../../server/test/control-plane.ts";
import { testDatabase } from "../../server/test/db.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../server/test/deploy.ts";
import { ControlProcess, findProcesses } from "./control-process.ts";

// isolation is part of what is killed and adopted
process.env["HEDDLE_PROCESS_ISOLATION"] = "auto";
const HEDDLE = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
const db = await testDatabase();
const directory = testDataDirectory();
const control = await ControlProcess.create(directory, db.uri);
const call = control.call;
afterAll(async () => {
  await control.end("SIGTERM");
  await dropDeploymentDatabases(db);
  rmSync(directory, { recursive: true, force: true });
});

const servers = () => findProcesses(directory, "--role\0agent");
const word = async () => {
  const body = JSON.stringify({ assistant_id: "echo", input: {} });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${control.url}/d/killed/runs/wait`, { method: "POST", headers, body });
  return ((await response.json()) as { word: string }).word;
};

let id = "";
const POINTS = [
  "control-created",
  "control-built",
  "control-deploying",
  "control-before-switch",
  "control-after-switch",
];

test.each(POINTS)(
  "recovers when killed at %s",
  async (point) => {
    await control.start({ HEDDLE_FAULT_POINTS: `${point}:1` });
    if (id === "") id = await createDeployment(call, "killed");
    const before = (await call("GET", `/v2/deployments/${id}`)).json.active_revision_id as string | null;
    const revision = await deployArchive(call, id, createArchive(graphProject(point)));
    expect(await control.ended()).toBe("SIGKILL");

    await control.start();
    // the previous revision still serves, or serves again
    expect(before === null ? "control-" : await word()).toMatch(/^control-/);
    await untilStatus(call, id, revision, "DEPLOYED", 60_000);
    await vi.waitUntil(async () => (await word()) === point, { timeout: 20_000 });
    await vi.waitUntil(() => servers().length === 1, { timeout: 20_000 });
    // each revision and replica had at most one instance at a time
    const twice = await db.sql`
    select 1 from instances x join instances y on x.revision_id = y.revision_id and x.replica = y.replica and x.id < y.id
    where x.started_at < coalesce(y.ended_at, now()) and y.started_at < coalesce(x.ended_at, now())
      and x.state <> 'draining' and x.ended_at is distinct from x.started_at`;
    expect(twice).toEqual([]);
    expect(await db.sql`select 1 from revisions where holder is not null`).toEqual([]);
    await control.end("SIGKILL");
  },
  120_000,
);

test("a build ends with the killed control plane and is repeated", async () => {
  await control.start();
  const script = "setTimeout(() => {}, process.env.HOME.length > 0 ? 3000 : 0, 'HEDDLE-BUILD')";
  const revision = await deployArchive(call, id, createArchive(graphProject("rebuilt", { "script.js": script })), {
    source_config: { install_command: "node script.js HEDDLE-BUILD-OF-A-TEST" },
  });
  const commands = () => findProcesses("HEDDLE-BUILD-OF-A-TEST", "script.js");
  await vi.waitUntil(() => commands().length > 0, { timeout: 20_000 });
  const [agent] = servers();
  await control.end("SIGKILL");
  await vi.waitUntil(() => commands().length === 0, { timeout: 20_000 });
  await control.start();
  // the serving instance was not touched
  expect(servers()).toEqual([agent]);
  await untilStatus(call, id, revision, "DEPLOYED", 60_000);
  const statuses = await db.sql<{ status: string }[]>`
    select status from revision_events where revision_id = ${revision} order by id`;
  expect(statuses.map((row) => row.status)).toContain("INTERRUPTED");
  expect(await word()).toBe("rebuilt");
}, 120_000);

test("a build that ends the control plane three times fails, and the previous revision serves", async () => {
  await control.end("SIGKILL");
  await control.start({ HEDDLE_FAULT_POINTS: "control-building:1" });
  const revision = await deployArchive(call, id, createArchive(graphProject("deadly")));
  for (let attempt = 1; attempt <= 3; attempt++) {
    if (attempt > 1) await control.start({ HEDDLE_FAULT_POINTS: "control-building:1" });
    expect(await control.ended()).toBe("SIGKILL");
  }
  await control.start();
  await untilStatus(call, id, revision, "BUILD_FAILED", 60_000);
  expect(await word()).toBe("rebuilt");
}, 120_000);

test("SIGTERM stops all processes, and the next start restores the serving revision", async () => {
  const follower = spawn(process.execPath, [HEDDLE, "logs", "killed", "-f", "--url", control.url], { stdio: "pipe" });
  let followed = "";
  follower.stdout.on("data", (chunk: Buffer) => (followed += chunk.toString()));
  const count = () => followed.match(/step two of rebuilt/g)?.length ?? 0;
  const storedLines = async (): Promise<number> => {
    const { json } = await call("POST", `/v1/projects/${id}/deploy_logs`, {
      limit: 1000,
      query: "step two of rebuilt",
    });
    return json.logs.length;
  };
  try {
    // equal counts show that no line was duplicated or lost
    const has = (least: number) =>
      vi.waitUntil(async () => count() >= least && count() === (await storedLines()), { timeout: 30_000 });
    await has(1);
    await control.end("SIGTERM");
    expect(servers()).toEqual([]);
    await control.start();
    await vi.waitUntil(async () => (await word()) === "rebuilt", { timeout: 30_000 });
    await has(2);
    await control.end("SIGKILL");
    await control.start();
    await vi.waitUntil(async () => (await word()) === "rebuilt", { timeout: 30_000 });
    await has(3);
    const before = count();
    expect(await word()).toBe("rebuilt");
    await has(before + 1);
    expect([follower.exitCode, follower.signalCode]).toEqual([null, null]);
  } finally {
    follower.kill("SIGINT");
  }
  expect((await call("DELETE", `/v2/deployments/${id}`)).status).toBe(204);
  await vi.waitUntil(async () => (await call("GET", `/v2/deployments/${id}`)).status === 404, { timeout: 20_000 });
  expect(servers()).toEqual([]);
  for (const kind of ["builds", "instances", "uploads"]) {
    const path = join(directory, "control", kind);
    expect(existsSync(path) ? readdirSync(path) : []).toEqual([]);
  }
}, 180_000);
