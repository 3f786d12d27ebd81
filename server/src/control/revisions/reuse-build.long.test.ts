/** Changes of resources and variables run the build of the latest revision again. */
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

const { call, url, sql } = await testControlPlane();

const run = async (name: string) => {
  const response = await fetch(`${url}/d/${name}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: {} }),
  });
  return (await response.json()) as { word?: string; env?: string | null };
};

test("a change of resources or variables alone is deployed without a build", { timeout: 200_000 }, async () => {
  const id = await createDeployment(call, "scaled", [{ name: "GREETING", value: "one" }]);
  const path = `/v2/deployments/${id}`;
  const built = await deployArchive(call, id, createArchive(graphProject("first")));
  await untilStatus(call, id, built, "DEPLOYED");

  const change = async (body: object, method = "PATCH", to = path) => {
    const { status, json, text } = await call(method, to, body);
    expect(`${status} ${text}`).toMatch(/^20/);
    const revision = (json.latest_revision_id ?? json.id) as string;
    expect(revision).not.toBe(built);
    return revision;
  };
  const buildOf = async (revision: string) => {
    const [row] = await sql`select artifact_id from revisions where id = ${revision}`;
    return row!["artifact_id"] as string | null;
  };

  const scaled = await change({ source_config: { resource_spec: { min_scale: 2, max_scale: 2 } } });
  await untilStatus(call, id, scaled, "DEPLOYED");
  expect([await buildOf(scaled), await logLines(call, id, scaled, "build")]).toEqual([built, []]);
  const ready = async () => {
    const { json } = await call("GET", `${path}/instances`);
    return json.resources.filter((each: { revision_id: string; state: string }) => each.state === "ready").length;
  };
  await vi.waitUntil(async () => (await ready()) === 2, { timeout: 60_000 });

  const renamed = await change({ secrets: [{ name: "GREETING", value: "two" }] });
  await untilStatus(call, id, renamed, "DEPLOYED");
  expect([await buildOf(renamed), await logLines(call, id, renamed, "build")]).toEqual([built, []]);
  expect(await run("scaled")).toMatchObject({ word: "first", env: "two" });

  // a command that was removed earlier takes effect at the next build, so there is one
  const commanded = await change({ source_config: { build_command: "true", resource_spec: { min_scale: 1 } } });
  await untilStatus(call, id, commanded, "DEPLOYED");
  expect(await buildOf(commanded)).toBe(commanded);
  await call("PATCH", path, { source_config: { build_command: "" } });
  const without = await change({ source_config: { resource_spec: { min_scale: 1, max_scale: 1 } } });
  await untilStatus(call, id, without, "DEPLOYED");
  expect(await buildOf(without)).toBe(without);
  // a revision that was asked for without a change is built
  const again = await change({}, "POST", `${path}/revisions`);
  await untilStatus(call, id, again, "DEPLOYED");
  expect(await buildOf(again)).toBe(again);
});

test("after a failed build, a change of resources builds again", { timeout: 100_000 }, async () => {
  const id = await createDeployment(call, "failing");
  const failed = await deployArchive(call, id, createArchive({ "readme.md": "no project" }));
  await untilStatus(call, id, failed, "BUILD_FAILED");
  const { json } = await call("PATCH", `/v2/deployments/${id}`, {
    source_config: { resource_spec: { memory_mb: 512 } },
  });
  await untilStatus(call, id, json.latest_revision_id, "BUILD_FAILED");
  expect(await logLines(call, id, json.latest_revision_id, "build")).not.toEqual([]);
});
