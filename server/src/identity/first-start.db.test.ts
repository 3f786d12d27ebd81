import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testDatabase } from "../../test/db.ts";
import { testGuard } from "../../test/identity.ts";
import { hashKey } from "./api-keys/key-text.ts";
import { ensureWorkspace } from "./first-start.ts";

test("of servers that start together one creates the workspace and its key, which has full access", async () => {
  const db = await testDatabase();
  const starts = await Promise.all([1, 2, 3, 4].map(() => ensureWorkspace(db.sql)));
  const keys = starts.flatMap(({ key }) => (key === null ? [] : [key]));
  expect(keys).toHaveLength(1);
  expect(new Set(starts.map(({ workspace }) => workspace.id)).size).toBe(1);
  const rows = await db.sql<{ hash: string }[]>`select encode(key_hash, 'hex') as hash from api_keys`;
  expect(rows).toEqual([{ hash: hashKey(keys[0]!) }]);

  const { authenticator, identity } = await testGuard(db);
  expect(identity.firstKey).toBeNull();
  const headers = new Headers({ "x-api-key": keys[0]! });
  const principal = await authenticator.authenticate({ headers, method: "GET", ip: "::1" });
  expect(principal.workspaceId).toBe(starts[0]!.workspace.id);
  expect(principal.permissions.has("organization:manage")).toBe(true);
  expect(principal.permissions.has("workspaces:manage")).toBe(true);
});

test("the first workspace gets the configured id, and a later unknown id is rejected", async () => {
  const db = await testDatabase();
  const id = randomUUID();
  const { identity } = await testGuard(db, { HEDDLE_WORKSPACE_ID: id.toUpperCase() });
  expect(identity.workspaceId).toBe(id);
  expect(identity.firstKey).toMatch(/^lsv2_sk_/);
  const lines = await db.sql`select operation, actor_name, workspace_id, target from audit_log`;
  const { firstKey } = identity;
  const shown = `${firstKey!.slice(0, 12)}...${firstKey!.slice(-4)}`;
  expect(lines).toEqual([
    { operation: "first start", actor_name: "first start", workspace_id: id, target: { short_key: shown } },
  ]);
  await expect(testGuard(db, { HEDDLE_WORKSPACE_ID: randomUUID() })).rejects.toThrow("there is no such workspace");
  await expect(testGuard(db, { HEDDLE_WORKSPACE_ID: "mine" })).rejects.toThrow("must be a UUID");
});

test("the plan of the default workspace applies also without keys", async () => {
  const db = await testDatabase();
  const { authenticator, identity } = await testGuard(db, { HEDDLE_AUTH: "off" });
  const plan = async () => {
    const principal = await authenticator.authenticate({ headers: new Headers(), method: "GET", ip: "::1" });
    return principal.plan;
  };
  expect(await plan()).toBe("enterprise");
  await db.sql`update workspaces set plan = 'developer' where id = ${identity.workspaceId}`;
  await expect.poll(plan, { timeout: 30_000 }).toBe("developer");
});
