/** Scaling of a deployment: up while runs wait for a slot, down when replicas are idle, without losing a run. */
import { expect, test, vi } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../../test/deploy.ts";

const { call, url, sql } = await testControlPlane({
  HEDDLE_SCALE_SECONDS: "1",
  HEDDLE_SCALE_UP_SECONDS: "0",
  HEDDLE_SCALE_DOWN_SECONDS: "3",
  HEDDLE_DRAIN_SECONDS: "20",
});

const alive = async (revision: string) => {
  const rows = await sql<{ replica: number }[]>`
    select replica from instances where revision_id = ${revision} and state = 'ready' order by replica`;
  return rows.map((row) => row.replica);
};

test("runs that wait for a slot add a replica, which is removed when it is not needed", async () => {
  // one slot per server
  const id = await createDeployment(call, "scaled", [{ name: "N_JOBS_PER_WORKER", value: "1" }]);
  const revision = await deployArchive(call, id, createArchive(graphProject("scaled")), {
    source_config: { resource_spec: { min_scale: 1, max_scale: 2 } },
  });
  await untilStatus(call, id, revision, "DEPLOYED", 60_000);
  expect(await alive(revision)).toEqual([0]);

  const ask = async () => {
    const response = await fetch(`${url}/d/scaled/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "echo", input: { wait: 500 } }),
    });
    return (await response.json()) as { steps?: string[] };
  };
  let isOver = false;
  const answers: { steps?: string[] }[] = [];
  const callers = Array.from({ length: 4 }, async () => {
    while (!isOver) answers.push(await ask());
  });
  await vi.waitUntil(async () => (await alive(revision)).length === 2, { timeout: 60_000, interval: 100 });
  // both replicas receive requests
  const before = answers.length;
  await vi.waitUntil(() => answers.length >= before + 4, { timeout: 30_000 });
  isOver = true;
  await Promise.all(callers);
  expect(answers.filter(({ steps }) => steps?.join() !== "one:scaled,two:scaled")).toEqual([]);

  await vi.waitUntil(async () => (await alive(revision)).join() === "0", { timeout: 60_000, interval: 100 });
  const [ended] = await sql<{ crashed: boolean; end_reason: string }[]>`
    select crashed, end_reason from instances where revision_id = ${revision} and replica = 1 and state <> 'ready'`;
  expect(ended!.crashed).toBe(false);
  expect((await ask()).steps).toEqual(["one:scaled", "two:scaled"]);
  const logged = (await logLines(call, id, revision, "deploy")).filter((line) => line.startsWith("Scaled from "));
  expect(logged.map((line) => line.split(":")[0])).toEqual([
    "Scaled from 1 to 2 replicas",
    "Scaled from 2 to 1 replicas",
  ]);
}, 200_000);
