/** Deployments without builds, as a restore leaves them: they come up by themselves. */
import { rmSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { testControlPlane, testDataDirectory } from "../../../test/control-plane.ts";
import { testDatabase } from "../../../test/db.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../../test/deploy.ts";
import { uploadFile } from "../uploads/receive-upload.ts";

test("builds again what serves and what was about to, unless its archive is gone", async () => {
  const options = { db: await testDatabase(), dataDir: testDataDirectory() };
  atEnd(() => rmSync(options.dataDir, { recursive: true, force: true }));
  const { sql } = options.db;
  const control = join(options.dataDir, "control");
  const first = await testControlPlane({}, options);
  const deploy = async (name: string) => {
    const id = await createDeployment(first.call, name, [{ name: "GREETING", value: `hello ${name}` }]);
    const revision = await deployArchive(first.call, id, createArchive(graphProject(name)));
    await untilStatus(first.call, id, revision, "DEPLOYED");
    return { id, revision };
  };
  const [serving, rolled, lost] = [await deploy("serving"), await deploy("rolled"), await deploy("lost")];
  // a rollback was about to be deployed
  const rollback = await first.call("POST", `/v2/deployments/${rolled.id}/revisions/${rolled.revision}/redeploy`);
  const { latest_revision_id: interrupted } = rollback.json;
  await untilStatus(first.call, rolled.id, interrupted, "DEPLOYED");
  await first.stop();
  await sql`update revisions set status = 'AWAITING_DEPLOY', finished_at = null where id = ${interrupted}`;
  await sql`update deployments set active_revision_id = ${rolled.revision} where id = ${rolled.id}`;
  const [{ path }] = (await sql`select source_tarball_path as path from revisions where id = ${lost.revision}`) as [
    { path: string },
  ];
  rmSync(uploadFile(control, path));
  rmSync(join(control, "builds"), { recursive: true });

  const { call, url } = await testControlPlane({}, options);
  const answer = async (name: string) => {
    const response = await fetch(`${url}/d/${name}/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "echo", input: {} }),
    });
    return (await response.json()) as { word?: string; env?: string; detail?: string };
  };
  const latest = async (id: string) => (await call("GET", `/v2/deployments/${id}`)).json.latest_revision_id as string;
  await vi.waitUntil(async () => (await latest(serving.id)) !== serving.revision, { timeout: 60_000 });
  const again = await latest(serving.id);
  await untilStatus(call, serving.id, again, "DEPLOYED");
  expect(await answer("serving")).toMatchObject({ word: "serving", env: "hello serving" });
  expect((await logLines(call, serving.id, again, "build"))[0]).toContain(`Revision ${serving.revision} serves`);
  // the one in progress goes on, and needs no other
  await untilStatus(call, rolled.id, interrupted, "DEPLOYED");
  expect(await answer("rolled")).toMatchObject({ word: "rolled" });
  expect(await latest(rolled.id)).toBe(interrupted);
  const events = await sql<{ status: string }[]>`
    select status from revision_events where revision_id = ${interrupted} order by id desc limit 6`;
  expect(events.map(({ status }) => status).toReversed()).toEqual([
    "QUEUED",
    "AWAITING_BUILD",
    "BUILDING",
    "AWAITING_DEPLOY",
    "DEPLOYING",
    "DEPLOYED",
  ]);
  // nothing can be done for this one, and nothing is tried again and again
  expect(await latest(lost.id)).toBe(lost.revision);
  expect(await sql`select from revisions where deployment_id = ${lost.id}`).toHaveLength(1);
}, 300_000);
