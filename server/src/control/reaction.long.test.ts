/** How soon a deployment follows its process, and that lost notifications only delay it. */
import { expect, test } from "vitest";

import { testControlPlane } from "../../test/control-plane.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../test/deploy.ts";
import { until } from "../../test/until.ts";
import { probe } from "./runtime/probe.ts";

// the time for which a process must be healthy is the operator's choice, not a delay of the platform
const MIN_HEALTHY_MS = 100;
const { call, url, sql } = await testControlPlane({ HEDDLE_MIN_HEALTHY_MS: String(MIN_HEALTHY_MS) });
const TABLES = ["instances", "deployments", "revisions", "cluster_targets"];

const answeredWord = async () => {
  const response = await fetch(`${url}/d/fast/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: {} }),
  });
  return response.ok ? ((await response.json()) as { word?: string }).word : undefined;
};

/** Resolves when the process of a revision answers and its graphs are loaded. */
async function untilProcessReady(revision: string): Promise<number> {
  await until(
    async () => {
      const [row] = await sql<{ port: number }[]>`
      select port from instances where revision_id = ${revision} and state <> 'ended'`;
      return row !== undefined && (await probe(row.port, 1_000)).state === "ready";
    },
    "the process is ready",
    100,
  );
  return performance.now();
}

test("a revision serves within a second of the moment when its process is ready", { timeout: 200_000 }, async () => {
  const id = await createDeployment(call, "fast");
  await untilStatus(call, id, await deployArchive(call, id, createArchive(graphProject("first"))), "DEPLOYED");
  const second = await deployArchive(call, id, createArchive(graphProject("second")));
  const readyAt = await untilProcessReady(second);
  await until(async () => (await answeredWord()) === "second", "the second revision serves", 60);
  const tookMs = performance.now() - readyAt;
  console.log(`serving ${Math.round(tookMs)} ms after its process was ready`);
  expect(tookMs).toBeLessThan(1_000);

  // every notification is lost from here on
  for (const table of TABLES) await sql.unsafe(`alter table ${table} disable trigger user`);
  const third = await deployArchive(call, id, createArchive(graphProject("third")));
  await untilStatus(call, id, third, "DEPLOYED", 100_000);
  await until(async () => (await answeredWord()) === "third", "the third revision serves", 60);
  expect((await call("DELETE", `/v2/deployments/${id}`)).status).toBe(204);
  await until(async () => (await call("GET", `/v2/deployments/${id}`)).status === 404, "the deployment is gone", 60);
});
