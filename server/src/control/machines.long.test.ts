/** Control planes with different places, as on different machines, where builds are on both. */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { atEnd } from "../../test/at-end.ts";
import { testControlPlane, testDataDirectory } from "../../test/control-plane.ts";
import { testDatabase } from "../../test/db.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../test/deploy.ts";
import { isProcessAlive } from "../base/db/process-identity.ts";

test("a leader on another machine starts the instances there, and their machine stops the earlier ones", async () => {
  const db = await testDatabase();
  const options = { db, dataDir: testDataDirectory() };
  const dataDir = testDataDirectory();
  atEnd(() => {
    for (const directory of [options.dataDir, dataDir]) rmSync(directory, { recursive: true, force: true });
  });
  const env = { HEDDLE_STOP_INSTANCES: "never", HEDDLE_DRAIN_SECONDS: "5", HEDDLE_CONTROL_LEASE_MS: "600" };
  const first = await testControlPlane(env, options);
  const id = await createDeployment(first.call, "moved");
  const revision = await deployArchive(first.call, id, createArchive(graphProject("moved")));
  await untilStatus(first.call, id, revision, "DEPLOYED");
  const live = () => db.sql<{ pid: number; started: string; place: string; state: string }[]>`
    select pid, started, place, state from instances where state <> 'ended'`;
  const [before] = await live();
  atEnd(() => isProcessAlive(before!) && process.kill(-before!.pid, "SIGKILL"));
  await first.stop();
  expect(isProcessAlive(before!)).toBe(true);

  mkdirSync(join(dataDir, "control"), { recursive: true });
  for (const shared of ["secrets.keys", "control/builds"])
    cpSync(join(options.dataDir, shared), join(dataDir, shared), { recursive: true });
  const second = await testControlPlane({ HEDDLE_CONTROL_LEASE_MS: "600" }, { db, dataDir });
  await vi.waitUntil(async () => (await live())[0]?.state === "ready", { timeout: 60_000 });
  const [after, ...others] = await live();
  expect(others).toEqual([]);
  expect(after!.place).not.toBe(before!.place);
  // only a control plane on its machine can stop it
  expect(isProcessAlive(before!)).toBe(true);

  const again = await testControlPlane(env, options);
  await vi.waitUntil(() => !isProcessAlive(before!), { timeout: 60_000 });
  expect(await live()).toEqual([after]);
  expect(again.control.deps.lead.term).toBeNull();
  const response = await fetch(`${again.url}/d/moved/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: {} }),
  });
  expect(await response.json()).toMatchObject({ word: "moved" });
  await again.stop();
  await second.stop();
  expect(isProcessAlive(after!)).toBe(false);
}, 180_000);
