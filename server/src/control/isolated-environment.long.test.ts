/** Variables of a deployment reach its own code, and no program that runs as the platform. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { testControlPlane } from "../../test/control-plane.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../test/deploy.ts";

const { call, url, dataDir } = await testControlPlane({ HEDDLE_PROCESS_ISOLATION: "auto" });

test("the platform runs no program of a deployment's PATH, and passes its values unchanged", async () => {
  const marker = join(dataDir, "control", "planted-program-ran");
  const program = `#!/bin/sh\n: > ${marker}\nexec /bin/mv "$@"\n`;
  const greeting = 'it\'s "a"\n$(value) \\ of `two` lines\n';
  const id = await createDeployment(call, "planted", [{ name: "GREETING", value: greeting }]);
  const archive = createArchive([
    ...Object.entries(graphProject("one")).map(([path, text]) => ({ path, text })),
    { path: "bin/mv", text: program, mode: 0o755 },
  ]);
  const first = await deployArchive(call, id, archive);
  await untilStatus(call, id, first, "DEPLOYED");
  const body = JSON.stringify({ assistant_id: "echo", input: {} });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/d/planted/runs/wait`, { method: "POST", headers, body });
  expect(((await response.json()) as { env: string }).env).toBe(greeting);

  const bin = join(dataDir, "control", "builds", first, "src", "bin");
  const secrets = [{ name: "PATH", value: `${bin}:/usr/bin:/bin` }];
  const changed = await call("PATCH", `/v2/deployments/${id}`, { secrets });
  expect(`${changed.status} ${changed.text}`).toMatch(/^200/);
  await untilStatus(call, id, changed.json.latest_revision_id, "DEPLOYED");
  expect(existsSync(marker)).toBe(false);
}, 150_000);
