import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";

import { testControlPlane } from "../../test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../test/deploy.ts";

const { call, url, sql, dataDir } = await testControlPlane();

const ask = async (path: string, body: unknown) => {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
};
const run = (name: string, input: object) => ask(`/d/${name}/runs/wait`, { assistant_id: "echo", input });

test("a project is built, serves at its address, is replaced, rolled back and deleted completely", async () => {
  const id = await createDeployment(call, "story", [{ name: "GREETING", value: "hello" }]);
  expect((await ask("/d/story/runs/wait", {})).status).toBe(503);

  const first = await deployArchive(call, id, createArchive(graphProject("first")));
  await untilStatus(call, id, first, "DEPLOYED");
  const shown = (await call("GET", `/v2/deployments/${id}`)).json;
  expect(shown).toMatchObject({ status: "READY", active_revision_id: first, latest_revision_id: first });
  expect(shown.source_config.custom_url).toBe(`${url}/d/story`);
  expect(shown.secrets).toEqual([{ name: "GREETING", value: "********" }]);
  const answered = await run("story", { text: "a" });
  expect(answered.json).toMatchObject({ word: "first", env: "hello", steps: ["one:first", "two:first"] });
  await vi.waitUntil(async () => (await logLines(call, id, first, "deploy")).includes("step one of first"));
  expect(await logLines(call, id, first, "build")).toContain("No package.json and no Python code: nothing to install.");

  const second = await deployArchive(call, id, createArchive(graphProject("second")));
  await untilStatus(call, id, second, "DEPLOYED");
  expect((await run("story", {})).json["word"]).toBe("second");
  const { json: usage } = await call("GET", `/v2/deployments/${id}/instances`);
  expect(
    usage.resources.find((resource: { revision_id: string }) => resource.revision_id === second).memory_bytes,
  ).toBeGreaterThan(1e7);

  const startedAt = performance.now();
  const back = await call("POST", `/v2/deployments/${id}/revisions/${first}/redeploy`);
  expect(back.status).toBe(200);
  await untilStatus(call, id, back.json.latest_revision_id, "DEPLOYED");
  console.log(`back in ${Math.round(performance.now() - startedAt)} ms`);
  expect((await run("story", {})).json["word"]).toBe("first");
  expect(await logLines(call, id, back.json.latest_revision_id, "build")).toEqual([]);

  const [{ port }] = await sql<[{ port: number }]>`select port from instances where state = 'ready'`;
  expect((await fetch(`http://127.0.0.1:${port}/ok`)).status).toBe(200);
  expect((await call("DELETE", `/v2/deployments/${id}`)).status).toBe(204);
  await vi.waitUntil(async () => (await call("GET", `/v2/deployments/${id}`)).status === 404, { timeout: 30_000 });
  await expect(fetch(`http://127.0.0.1:${port}/ok`)).rejects.toThrow("fetch failed");
  expect((await ask("/d/story/runs/wait", {})).status).toBe(404);
  expect(readdirSync(join(dataDir, "control", "builds"))).toEqual([]);
  expect(readdirSync(join(dataDir, "control", "instances"))).toEqual([]);
  expect(readdirSync(join(dataDir, "control", "uploads"))).toEqual([]);
  expect(await sql`select 1 from pg_database where datname = ${`heddle_d_${id.replaceAll("-", "")}`}`).toEqual([]);
  expect(await sql`select purpose from secrets where purpose not in ('upload-signing', 'registry-signing')`).toEqual(
    [],
  );
  expect(existsSync(dataDir)).toBe(true);
}, 200_000);
