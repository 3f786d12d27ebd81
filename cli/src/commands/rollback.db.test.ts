import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test, vi } from "vitest";

import { testControlPlane } from "../../../server/test/control-plane.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { run as deploy } from "./deploy.ts";
import { run } from "./rollback.ts";

const db = await testDatabase();
const { url, call } = await testControlPlane({}, { db });
const directory = mkdtempSync(join(tmpdir(), "heddle-rollback-test-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("rolls back to the revision before the one that serves, beyond the newest hundred", async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const config = join(directory, "langgraph.json");
  // its build fails at once
  writeFileSync(config, '{"graphs":{}}');
  await expect(deploy(["--config", config, "--name", "often", "--url", url])).rejects.toThrow("BUILD_FAILED");
  const { id } = (await call("GET", "/v2/deployments?name=often")).json.resources[0];
  const revisions = Array.from({ length: 130 }, () => randomUUID());
  await db.sql`
    insert into revisions (id, deployment_id, number, source, source_config, source_tarball_path, langgraph_config_path,
      status)
    select n.id, r.deployment_id, r.number + n.place, r.source, r.source_config, r.source_tarball_path,
      r.langgraph_config_path, 'DEPLOYED'
    from revisions r, unnest(${revisions}::uuid[]) with ordinality as n (id, place) where r.deployment_id = ${id}`;
  await db.sql`update deployments set active_revision_id = ${revisions[10]!} where id = ${id}`;
  await expect(run(["often", "--url", url])).rejects.toThrow("BUILD_FAILED");
  const made = await db.sql`select redeploy_of from revisions where redeploy_of is not null`;
  expect(made).toEqual([{ redeploy_of: revisions[9] }]);
});
