import { beforeAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testGuard, type TestTenants, testTenants } from "../../../test/identity.ts";
import { type CallAs, testIdentityApp } from "../../../test/identity-app.ts";
import { testPerson } from "../../../test/people.ts";
import { BUILT_IN_ROLES } from "../roles/built-in.ts";

const db = await testDatabase();
let tenants: TestTenants;
let call: CallAs;

beforeAll(async () => {
  tenants = await testTenants(db);
  call = testIdentityApp(db, await testGuard(db));
});

test("a key is shown once, and the table stores only its hash", async () => {
  const { admin } = tenants.a;
  const created = await call(admin, "POST", "/api-key", { description: "ci" });
  expect(created).toMatchObject({ status: 200, json: { description: "ci", read_only: false, expires_at: null } });
  expect(created.headers.get("cache-control")).toBe("no-store");
  const { key, id, short_key: short } = created.json as Record<string, string>;
  expect(key).toMatch(/^lsv2_sk_[0-9a-f]{64}_[0-9a-f]{10}$/);
  expect(short!.length).toBeLessThan(20);
  expect((await call(key!, "GET", "/workspaces")).status).toBe(200);

  const listed = await call(admin, "GET", "/api/v1/api-key");
  expect(listed.json).toContainEqual({ ...created.json, key: undefined, last_used_at: null });
  expect(listed.text).not.toContain(key);
  const [row] = await db.sql`select to_jsonb(k)::text as text from api_keys k where id = ${id!}`;
  const secret = key!.slice("lsv2_sk_".length, -11);
  expect(row!["text"]).not.toContain(secret);
  expect(row!["text"]).not.toContain(Buffer.from(secret, "hex").toString("base64"));
});

test("a revoked key is rejected at once, and cannot be revoked twice", async () => {
  const { admin } = tenants.a;
  const { id, key } = (await call(admin, "POST", "/api-key", {})).json as { id: string; key: string };
  expect((await call(key, "GET", "/workspaces")).status).toBe(200);
  expect((await call(admin, "DELETE", `/api-key/${id}`)).json).toMatchObject({ id, description: "Default API key" });
  await expect.poll(async () => (await call(key, "GET", "/workspaces")).status, { timeout: 30_000 }).toBe(401);
  expect((await call(admin, "DELETE", `/api-key/${id}`)).status).toBe(404);
});

test("keys of another tenant can be neither seen nor revoked", async () => {
  const { a, b } = tenants;
  const { id } = (await call(a.admin, "POST", "/api-key", { description: "mine" })).json as { id: string };
  expect((await call(b.admin, "GET", "/api-key")).text).not.toContain(id);
  expect((await call(b.admin, "DELETE", `/api-key/${id}`)).status).toBe(404);
  expect((await call(b.org, "GET", "/orgs/current/service-keys")).text).not.toContain(id);
  expect((await call(b.org, "DELETE", `/orgs/current/service-keys/${id}`)).status).toBe(404);
});

test("a key has its role's permissions, a read-only key cannot write, and an expiry must be in the future", async () => {
  const { admin } = tenants.a;
  const viewer = await call(admin, "POST", "/api-key", { role_id: BUILT_IN_ROLES.WORKSPACE_VIEWER });
  expect((await call(viewer.json.key, "GET", "/api-key")).status).toBe(200);
  expect((await call(viewer.json.key, "POST", "/api-key", {})).status).toBe(403);
  const reader = await call(admin, "POST", "/api-key", { read_only: true });
  expect((await call(reader.json.key, "GET", "/api-key")).status).toBe(200);
  expect((await call(reader.json.key, "POST", "/api-key", {})).status).toBe(403);
  expect((await call(reader.json.key, "DELETE", `/api-key/${viewer.json.id}`)).status).toBe(403);

  const soon = new Date(Date.now() + 3000).toISOString();
  const brief = await call(admin, "POST", "/api-key", { expires_at: soon });
  expect(brief.json).toMatchObject({ expires_at: soon });
  expect((await call(brief.json.key, "GET", "/api-key")).status).toBe(200);
  const status = async () => (await call(brief.json.key, "GET", "/api-key")).status;
  await expect.poll(status, { timeout: 30_000, interval: 100 }).toBe(403);
  for (const expires_at of ["2001-01-01T00:00:00Z", "2999-02-31x", "tomorrow", 7]) {
    expect([expires_at, (await call(admin, "POST", "/api-key", { expires_at })).status]).toEqual([expires_at, 422]);
  }
});

test("rejects a key with more permissions than its creator", async () => {
  const { a, b } = tenants;
  const role = await call(a.org, "POST", "/orgs/current/roles", {
    display_name: "Key maker",
    description: "",
    permissions: ["workspaces:manage", "workspaces:read"],
  });
  const maker = await call(a.admin, "POST", "/api-key", { role_id: role.json.id });
  expect(maker.status).toBe(200);
  const key = maker.json.key as string;
  expect((await call(key, "POST", "/api-key", {})).status).toBe(403);
  expect((await call(key, "POST", "/api-key", { role_id: BUILT_IN_ROLES.WORKSPACE_USER })).status).toBe(403);
  expect((await call(key, "POST", "/api-key", { role_id: role.json.id })).status).toBe(200);
  const { ORGANIZATION_ADMIN } = BUILT_IN_ROLES;
  expect((await call(a.admin, "POST", "/api-key", { org_role_id: ORGANIZATION_ADMIN })).status).toBe(403);
  expect((await call(a.admin, "POST", "/api-key", { role_id: ORGANIZATION_ADMIN })).status).toBe(422);
  expect((await call(a.admin, "POST", "/api-key", { workspaces: [b.workspaceId] })).status).toBe(422);
  expect((await call(a.admin, "POST", "/orgs/current/service-keys", {})).status).toBe(403);
  // a role of another organization does not exist here
  expect((await call(b.admin, "POST", "/api-key", { role_id: role.json.id })).status).toBe(422);
});

test("organization keys cover all workspaces, some, or one by default", async () => {
  const { a, b } = tenants;
  const make = (body: object) => call(a.org, "POST", "/orgs/current/service-keys", body);
  const second = (await call(a.org, "POST", "/workspaces", { display_name: "Second" })).json as { id: string };

  const all = await make({ description: "all" });
  expect(all.json).toMatchObject({ workspace_names: null });
  expect((await call(all.json.key, "GET", "/api-key")).json).toMatchObject({
    error: "org_scoped_key_requires_workspace",
    detail: expect.stringContaining("requires workspace specification"),
  });
  expect((await call(all.json.key, "GET", "/workspaces")).json).toHaveLength(2);

  const both = await make({ workspaces: [a.workspaceId, second.id], default_workspace_id: second.id });
  expect(both.json).toMatchObject({ workspace_names: ["Second", "Workspace A"], default_workspace_name: "Second" });
  expect((await call(both.json.key, "GET", "/auth/public")).json).toMatchObject({ tenant_id: second.id });

  expect((await make({ workspaces: [b.workspaceId] })).status).toBe(422);
  expect((await make({ workspaces: [a.workspaceId], default_workspace_id: second.id })).status).toBe(422);
  expect((await call(a.org, "DELETE", `/orgs/current/service-keys/${both.json.id}`)).status).toBe(200);
  // a workspace may not revoke keys that span workspaces
  expect((await call(a.admin, "DELETE", `/api-key/${all.json.id}`)).status).toBe(404);
});

test("a personal key belongs to a user, is visible only to them, and has their permissions", async () => {
  const { a } = tenants;
  const ada = await testPerson(db, a, "ada", { workspace: "WORKSPACE_ADMIN" });
  const bob = await testPerson(db, a, "bob", { workspace: "WORKSPACE_VIEWER" });
  expect((await call(a.org, "POST", "/api-key/current", {})).status).toBe(403);

  const created = await call(ada.key, "POST", "/orgs/current/personal-access-tokens", { description: "laptop" });
  expect(created.json.key).toMatch(/^lsv2_pt_/);
  expect((await call(ada.key, "GET", "/api-key/current")).json).toHaveLength(2);
  expect((await call(bob.key, "GET", "/api-key/current")).json).toHaveLength(1);
  expect((await call(bob.key, "DELETE", `/api-key/current/${created.json.id}`)).status).toBe(404);
  expect((await call(ada.key, "GET", "/auth/public")).json).toMatchObject({
    user_id: ada.userId,
    user_email: ada.email,
    tenant_id: a.workspaceId,
  });

  // narrowed keys have fewer rights and issue no wider ones
  const narrow = await call(ada.key, "POST", "/api-key/current", { role_id: BUILT_IN_ROLES.WORKSPACE_VIEWER });
  expect((await call(narrow.json.key, "GET", "/api-key")).status).toBe(200);
  expect((await call(narrow.json.key, "POST", "/api-key", {})).status).toBe(403);
  expect((await call(narrow.json.key, "POST", "/api-key/current", {})).status).toBe(403);
  const reader = await call(ada.key, "POST", "/api-key/current", { read_only: true });
  expect((await call(reader.json.key, "POST", "/api-key/current", {})).status).toBe(403);

  expect((await call(created.json.key, "POST", "/api-key", { role_id: BUILT_IN_ROLES.WORKSPACE_USER })).status).toBe(
    200,
  );
  await db.sql`update workspace_members set role_id = ${BUILT_IN_ROLES.WORKSPACE_VIEWER} where user_id = ${ada.userId}`;
  await expect
    .poll(async () => (await call(created.json.key, "POST", "/api-key", {})).status, { timeout: 30_000 })
    .toBe(403);
  await db.sql`update users set disabled_at = now() where id = ${ada.userId}`;
  await expect
    .poll(async () => (await call(created.json.key, "GET", "/api-key")).status, { timeout: 30_000 })
    .toBe(401);
});

test("records the last use of a key some seconds later", async () => {
  const { identity, ...guard } = await testGuard(db);
  const use = testIdentityApp(db, guard);
  const before = Date.now();
  const { id, key } = (await use(tenants.a.admin, "POST", "/api-key", {})).json as { id: string; key: string };
  for (let n = 0; n < 20; n++) await use(key, "GET", "/workspaces");
  const lastUsed = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`select last_used_at as at from api_keys where id = ${id}`;
    return row!.at;
  };
  expect(await lastUsed()).toBeNull();
  const [version] = await db.sql`select version from identity_version`;
  await identity.stop();
  expect((await lastUsed())!.getTime()).toBeGreaterThanOrEqual(before);
  // recording the use does not count as a change of rights
  expect((await db.sql`select version from identity_version`)[0]).toEqual(version);
});

test("a key cannot create one that outlives it", async () => {
  const { a } = tenants;
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const end = at(2);
  const maker = await call(a.admin, "POST", "/api-key", { expires_at: end });
  const make = (expires_at?: string) => call(maker.json.key, "POST", "/api-key", { expires_at });
  expect((await make()).json).toMatchObject({ expires_at: end });
  const before = at(1);
  expect((await make(before)).json).toMatchObject({ expires_at: before });
  expect(await make(at(3))).toMatchObject({ status: 403, json: { detail: expect.stringContaining(end) } });

  const ofAll = await call(a.org, "POST", "/orgs/current/service-keys", {
    expires_at: end,
    org_role_id: BUILT_IN_ROLES.ORGANIZATION_ADMIN,
  });
  expect((await call(ofAll.json.key, "POST", "/orgs/current/service-keys", {})).json).toMatchObject({
    expires_at: end,
  });
  const person = await testPerson(db, a, "eva", { workspace: "WORKSPACE_ADMIN" });
  const own = await call(person.key, "POST", "/api-key/current", { expires_at: end });
  expect((await call(own.json.key, "POST", "/api-key/current", {})).json).toMatchObject({ expires_at: end });
  expect((await call(own.json.key, "POST", "/api-key/current", { expires_at: at(3) })).status).toBe(403);
});

test("a key limited to some workspaces creates none for others, whatever its role in the organization", async () => {
  const { a } = tenants;
  const other = (await call(a.org, "POST", "/workspaces", { display_name: "Elsewhere" })).json as { id: string };
  const maker = await call(a.org, "POST", "/orgs/current/service-keys", {
    workspaces: [a.workspaceId],
    org_role_id: BUILT_IN_ROLES.ORGANIZATION_ADMIN,
  });
  const make = (workspaces?: string[]) => call(maker.json.key, "POST", "/orgs/current/service-keys", { workspaces });
  expect((await make([a.workspaceId])).status).toBe(200);
  expect((await make([a.workspaceId, other.id])).status).toBe(403);
  expect((await make()).status).toBe(403);
});
