import { randomUUID } from "node:crypto";

import { beforeAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testGuard, type TestTenants, testTenants } from "../../../test/identity.ts";
import { type CallAs, testIdentityApp } from "../../../test/identity-app.ts";
import { testPerson } from "../../../test/people.ts";
import { ensureWorkspace } from "../first-start.ts";

const db = await testDatabase();
let tenants: TestTenants;
let call: CallAs;

beforeAll(async () => {
  tenants = await testTenants(db);
  call = testIdentityApp(db, await testGuard(db));
});

const listedIds = (answer: { json: { id: string }[] }): string[] => answer.json.map(({ id }) => id);

test("lists the caller's workspaces with their permissions", async () => {
  const { a, b } = tenants;
  for (const path of ["/workspaces", "/api/v1/workspaces", "/tenants", "/api/v1/tenants?skip_create=true"]) {
    expect([path, listedIds(await call(a.viewer, "GET", path))]).toEqual([path, [a.workspaceId]]);
  }
  const [workspace] = (await call(a.viewer, "GET", "/workspaces")).json as Record<string, unknown>[];
  expect(workspace).toMatchObject({ role_name: "Viewer", read_only: false, is_deleted: false, plan: "enterprise" });
  expect(workspace!["permissions"]).toContain("runs:read");
  expect(workspace!["permissions"]).not.toContain("runs:create");
  expect(listedIds(await call(b.org, "GET", "/workspaces"))).toEqual([b.workspaceId]);

  const eve = await testPerson(db, a, "eve");
  expect(listedIds(await call(eve.key, "GET", "/workspaces"))).toEqual([]);
  const boss = await testPerson(db, a, "boss", { organization: "ORGANIZATION_ADMIN" });
  expect(listedIds(await call(boss.key, "GET", "/workspaces"))).toEqual([a.workspaceId]);
});

test("only managers of the organization create workspaces", async () => {
  const { a, b } = tenants;
  const created = await call(a.org, "POST", "/workspaces", {
    display_name: "Team (1)",
    tenant_handle: "team-1",
    plan: "plus",
  });
  expect(created).toMatchObject({
    status: 200,
    json: { display_name: "Team (1)", tenant_handle: "team-1", plan: "plus", organization_id: a.organizationId },
  });
  expect(listedIds(await call(a.org, "GET", "/workspaces"))).toContain(created.json.id);
  expect(listedIds(await call(b.org, "GET", "/tenants"))).not.toContain(created.json.id);
  expect((await call(a.admin, "POST", "/workspaces", { display_name: "Mine" })).status).toBe(403);
  expect((await call(a.org, "POST", "/workspaces", { display_name: "x", id: a.workspaceId })).status).toBe(409);
  expect((await call(b.org, "POST", "/workspaces", { display_name: "x", tenant_handle: "team-1" })).status).toBe(409);
  expect((await call(a.org, "POST", "/tenants", { display_name: "x", organization_id: b.organizationId })).status).toBe(
    403,
  );
  for (const body of [
    {},
    { display_name: "" },
    { display_name: "<b>" },
    { display_name: "x", plan: "free" },
    { display_name: "x", is_personal: true },
  ]) {
    expect([body, (await call(a.org, "POST", "/workspaces", body)).status]).toEqual([body, 422]);
  }
});

test("administrators rename a workspace, and only managers of the organization change its plan", async () => {
  const { a, b } = tenants;
  const path = `/workspaces/${a.workspaceId}`;
  expect((await call(a.admin, "PATCH", path, { display_name: "Renamed" })).json).toMatchObject({
    display_name: "Renamed",
  });
  expect((await call(a.editor, "PATCH", path, { display_name: "No" })).status).toBe(403);
  expect((await call(a.admin, "PATCH", path, { plan: "developer" })).status).toBe(403);
  expect((await call(a.org, "PATCH", path, { plan: "developer" })).json).toMatchObject({ plan: "developer" });
  expect((await call(a.org, "PATCH", path, {})).status).toBe(422);
  expect((await call(b.org, "PATCH", path, { display_name: "No" })).status).toBe(404);
  expect((await call(b.admin, "PATCH", path, { display_name: "No" })).status).toBe(404);
  expect((await call(a.org, "PATCH", `/workspaces/${randomUUID()}`, { display_name: "No" })).status).toBe(404);
});

test("rejects access to a deleted workspace, and keeps the default one", async () => {
  const { a, b } = tenants;
  const { id } = (await call(a.org, "POST", "/workspaces", { display_name: "Short" })).json as { id: string };
  const { key } = (await call(a.org, "POST", "/orgs/current/service-keys", { workspaces: [id] })).json as {
    key: string;
  };
  expect((await call(key, "GET", "/api-key")).status).toBe(200);
  expect((await call(b.org, "DELETE", `/workspaces/${id}`)).status).toBe(404);
  expect((await call(a.org, "DELETE", `/workspaces/${id}`)).json).toMatchObject({ id, is_deleted: true });
  await expect.poll(async () => (await call(key, "GET", "/api-key")).status, { timeout: 30_000 }).toBe(403);
  expect(listedIds(await call(a.org, "GET", "/workspaces"))).not.toContain(id);
  expect(listedIds(await call(a.org, "GET", "/workspaces?include_deleted=true"))).toContain(id);
  expect((await call(a.org, "DELETE", `/workspaces/${id}`)).status).toBe(404);

  const { workspace } = await ensureWorkspace(db.sql);
  const { json } = await call(null, "GET", "/workspaces");
  expect(json).toMatchObject({ detail: expect.stringContaining("x-api-key") });
  const [first] = await db.sql`select count(*)::int as count from workspaces where is_default and deleted_at is null`;
  expect(first!["count"]).toBe(1);
  await expect(db.sql`update workspaces set deleted_at = now() where id = ${workspace.id}`).rejects.toThrow("check");
});

test("members read the organization, and managers rename it", async () => {
  const { a, b } = tenants;
  expect((await call(a.viewer, "GET", "/orgs/current")).json).toMatchObject({
    id: a.organizationId,
    tier: "enterprise",
  });
  expect(listedIds(await call(a.viewer, "GET", "/orgs"))).toEqual([a.organizationId]);
  const renamed = await call(a.org, "PATCH", "/orgs/current/info", { display_name: "Acme" });
  expect(renamed.json).toMatchObject({
    display_name: "Acme",
    permissions: expect.arrayContaining(["organization:manage"]),
  });
  expect((await call(b.viewer, "GET", "/orgs/current/info")).json).toMatchObject({ display_name: "Organization B" });
  expect((await call(a.admin, "PATCH", "/orgs/current/info", { display_name: "No" })).status).toBe(403);
  // unsupported settings are rejected, not ignored
  expect(
    (await call(a.org, "PATCH", "/orgs/current/info", { display_name: "x", pat_creation_disabled: true })).status,
  ).toBe(422);
});
