import { tmpdir } from "node:os";

import { expect, test } from "vitest";

import { UsageError } from "../core/flags.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { testGuard } from "../../../server/test/identity.ts";
import { testIdentityApp } from "../../../server/test/identity-app.ts";
import { runHeddle } from "../../test/run-heddle.ts";
import * as keys from "./keys.ts";
import * as serve from "./serve.ts";
import * as workspaces from "./workspaces.ts";

const db = await testDatabase();

const heddle = (args: string[], env: Record<string, string> = {}) => runHeddle(args, { DATABASE_URI: db.uri, ...env });

test("a key created on the command line works on a running server until it is revoked there", async () => {
  const call = testIdentityApp(db, await testGuard(db));
  const created = await heddle(["keys", "create", "--description", "deploys", "--expires-in", "30d"]);
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('the workspace "Default"') });
  const key = created.stdout.trim();
  expect(key).toMatch(/^lsv2_sk_[0-9a-f]{64}_[0-9a-f]{10}$/);
  expect((await call(key, "GET", "/api-key")).json).toMatchObject([{ description: "deploys" }]);

  const listed = await heddle(["keys", "list", "--json"]);
  expect(listed.stdout).not.toContain(key);
  const [listedKey] = JSON.parse(listed.stdout) as { id: string; expires_at: string; role_name: string }[];
  expect(listedKey).toMatchObject({ role_name: "Admin", workspace_names: ["Default"], revoked_at: null });
  const days = (Date.parse(listedKey!.expires_at) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(29.9);
  expect((await heddle(["keys", "list"])).stdout).toMatch(/Admin +Default +\d{4}-\d\d-\d\d|Admin +Default +never/);

  expect(await heddle(["keys", "revoke", listedKey!.id])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("deploys"),
  });
  await expect.poll(async () => (await call(key, "GET", "/api-key")).status, { timeout: 30_000 }).toBe(401);
  expect(await heddle(["keys", "revoke", listedKey!.id])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("does not exist or is already revoked"),
  });
  const lines =
    await db.sql`select operation, actor_kind from audit_log where operation like 'heddle keys%' order by at`;
  expect(lines).toMatchObject([
    { operation: "heddle keys create", actor_kind: "system" },
    { operation: "heddle keys revoke", actor_kind: "system" },
  ]);
});

test("seals audit entries of commands where the keys of secrets are available", async () => {
  const env = { HEDDLE_SECRETS_KEYS: (await heddle(["secrets", "generate"])).stdout.trim() };
  expect(await heddle(["keys", "create", "--description", "sealed"], env)).toMatchObject({ code: 0 });
  const [line] = await db.sql`select seal_key_id from audit_log where target->>'description' = 'sealed'`;
  expect(line).toEqual({ seal_key_id: env.HEDDLE_SECRETS_KEYS.split(":")[0] });
  expect((await heddle(["audit", "verify"], env)).stdout).toMatch(/ 1 sound,/);
});

test("creates keys with a role, for one workspace, read-only, or for the organization", async () => {
  const call = testIdentityApp(db, await testGuard(db));
  const viewer = (await heddle(["keys", "create", "--role", "viewer"])).stdout.trim();
  expect((await call(viewer, "POST", "/api-key", {})).status).toBe(403);
  const { key } = JSON.parse((await heddle(["keys", "create", "--organization", "--json"])).stdout) as { key: string };
  expect((await call(key, "POST", "/workspaces", { display_name: "By key" })).status).toBe(200);
  const all = JSON.parse((await heddle(["workspaces", "list", "--json"])).stdout) as {
    id: string;
    display_name: string;
  }[];
  const byKey = all.find((key) => key.display_name === "By key")!;
  const other = await heddle(["keys", "create", "--workspace", byKey.id, "--read-only"]);
  expect((await call(other.stdout.trim(), "GET", "/auth/public")).json).toMatchObject({ tenant_id: byKey.id });
  // identified by the key itself
  expect((await heddle(["keys", "revoke", key])).code).toBe(0);
});

test("creates and changes workspaces", async () => {
  const created = await heddle(["workspaces", "create", "--name", "Team A", "--plan", "plus", "--json"]);
  const [{ id }] = JSON.parse(created.stdout) as [{ id: string }];
  const changed = await heddle(["workspaces", "update", "--id", id, "--plan", "developer"]);
  expect(changed.stdout).toMatch(/Team A +developer/);
  expect((await heddle(["workspaces", "list"])).stdout).toMatch(/Default +enterprise .* default/);
});

test.each([
  [keys, [], "Missing action. Actions of heddle keys: create, list, revoke."],
  [keys, ["make"], 'Unknown action "make"'],
  [keys, ["create", "--role", "king"], "--role"],
  [keys, ["create", "--expires-in", "soon"], "--expires-in"],
  [keys, ["revoke"], "The id of the key is missing"],
  [keys, ["list", "--postgres-uri", ""], "--postgres-uri"],
  [keys, ["list", "--data-dir", tmpdir()], "contains no Heddle data"],
  [workspaces, ["create"], "--name"],
  [workspaces, ["update", "--id", "x", "--name", "y"], "--id"],
  [workspaces, ["create", "--name", "x", "--plan", "free"], "--plan"],
  [serve, [], "--role"],
  [serve, ["--role", "agent,king"], 'no role "king"'],
  [serve, ["--role", "agent", "--config", "none.json"], "none.json"],
  [serve, ["--role", "worker", "--config", "none.json"], "role worker"],
  [serve, ["--role", "agent,worker"], "cannot share a process"],
])("rejects invalid arguments before it opens the database", async (command, args, message) => {
  await expect(command.run(args)).rejects.toThrow(message);
  await expect(command.run(args)).rejects.toThrow(UsageError);
});

test("rejects a key for an unknown workspace", async () => {
  const ended = await heddle(["keys", "create", "--workspace", "none"]);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("no workspace none") });
});
