import { randomUUID } from "node:crypto";

import { beforeAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testGuard, type TestWorkspace, testTenants, type TestTenants } from "../../../test/identity.ts";
import { type CallAs, testIdentityApp } from "../../../test/identity-app.ts";
import { testPerson } from "../../../test/people.ts";
import { BUILT_IN_ROLES } from "../roles/built-in.ts";
import { welcomeInvited } from "./add-member.ts";

const db = await testDatabase();
let tenants: TestTenants;
let call: CallAs;

beforeAll(async () => {
  tenants = await testTenants(db);
  call = testIdentityApp(db, await testGuard(db));
});

const sortedEmails = (rows: { email: string }[]): string[] => rows.map(({ email }) => email).sort();

test("members are listed per organization and per workspace, without those of others", async () => {
  const { a, b } = tenants;
  const ada = await testPerson(db, a, "ada", { workspace: "WORKSPACE_USER" });
  const ann = await testPerson(db, a, "ann");
  const ben = await testPerson(db, b, "ben", { workspace: "WORKSPACE_USER" });
  const all = (await call(a.org, "GET", "/orgs/current/members")).json;
  expect(sortedEmails(all.members)).toEqual([ada.email, ann.email]);
  expect(all.members).toContainEqual(
    expect.objectContaining({ user_id: ada.userId, role_name: "Organization User", tenant_ids: [a.workspaceId] }),
  );
  const here = (await call(a.viewer, "GET", "/workspaces/current/members")).json;
  expect(here).toMatchObject({ tenant_id: a.workspaceId, pending: [] });
  expect(here.members).toMatchObject([{ email: ada.email, role_name: "Editor", org_role_name: "Organization User" }]);
  expect(sortedEmails((await call(b.org, "GET", "/orgs/current/members/active")).json)).toEqual([ben.email]);
  // a workspace key does not see the organization's other members
  expect((await call(a.admin, "GET", "/orgs/current/members")).status).toBe(403);

  const page = await call(a.org, "GET", "/orgs/current/members/active?limit=1");
  expect(page.json).toHaveLength(1);
  expect(page.headers.get("x-pagination-total")).toBe("2");
  const found = await call(a.org, "GET", "/orgs/current/members/active?q=ANN");
  expect(sortedEmails(found.json)).toEqual([ann.email]);
  expect(sortedEmails((await call(a.org, "GET", `/orgs/current/members/active?emails=${ada.email}`)).json)).toEqual([
    ada.email,
  ]);
  expect((await call(a.org, "GET", "/orgs/current/members/active?limit=9999")).status).toBe(422);
});

test("a user with an account joins at once, and an invited one gets the promised roles at sign-up", async () => {
  const { a, b } = tenants;
  const body = { workspace_ids: [a.workspaceId], workspace_role_id: BUILT_IN_ROLES.WORKSPACE_VIEWER };
  const known = await testPerson(db, b, "known");
  expect((await call(a.org, "POST", "/orgs/current/members", { ...body, email: known.email })).json).toMatchObject({
    email: known.email,
    user_id: known.userId,
  });
  expect(sortedEmails((await call(a.viewer, "GET", "/workspaces/current/members")).json.members)).toContain(
    known.email,
  );

  const invited = await call(a.org, "POST", "/orgs/current/members", { ...body, email: "New@Example.com" });
  expect(invited.json).toMatchObject({ email: "new@example.com", user_id: null, tenant_ids: [a.workspaceId] });
  const pending = (await call(a.viewer, "GET", "/workspaces/current/members/pending")).json;
  expect(pending).toMatchObject([{ email: "new@example.com", role_name: "Viewer" }]);
  expect((await call(b.org, "GET", "/orgs/current/members/pending")).json).toEqual([]);
  expect((await call(b.org, "DELETE", `/orgs/current/members/${invited.json.id}/pending`)).status).toBe(404);

  expect(await welcomeInvited(db.sql, "nobody@example.com", null)).toBeUndefined();
  const user = await welcomeInvited(db.sql, "new@example.com", "New One");
  expect(user).toMatchObject({ email: "new@example.com", full_name: "New One" });
  const members = (await call(a.viewer, "GET", "/workspaces/current/members")).json;
  expect(sortedEmails(members.members)).toContain("new@example.com");
  expect(members.pending).toEqual([]);
});

test("invitations are revoked, and sent in batches", async () => {
  const { a, b } = tenants;
  const batch = ["x1@example.com", "x2@example.com"].map((email) => ({ email }));
  const invited = await call(a.org, "POST", "/orgs/current/members/batch", batch);
  expect(sortedEmails(invited.json)).toEqual(["x1@example.com", "x2@example.com"]);
  const path = `/orgs/current/members/${invited.json[0].id}/pending`;
  expect((await call(a.org, "DELETE", path)).status).toBe(200);
  expect((await call(a.org, "DELETE", path)).status).toBe(404);
  for (const body of [
    {},
    { email: "no address" },
    { email: "a@example.com", workspace_ids: [b.workspaceId] },
    { email: "a@example.com", role_id: randomUUID() },
    { email: "a@example.com", role_id: BUILT_IN_ROLES.WORKSPACE_ADMIN },
    { email: "a@example.com", password: "hunter2hunter2" },
  ]) {
    expect([body, (await call(a.org, "POST", "/orgs/current/members", body)).status]).toEqual([body, 422]);
  }
  expect((await call(a.admin, "POST", "/orgs/current/members", { email: "a@example.com" })).status).toBe(403);
});

async function workspaceMember(of: TestWorkspace, name: string) {
  const person = await testPerson(db, of, name, { workspace: "WORKSPACE_USER" });
  const { members } = (await call(of.admin, "GET", "/workspaces/current/members")).json as {
    members: { id: string; email: string }[];
  };
  return { ...person, id: members.find(({ email }) => email === person.email)!.id };
}

test("a changed role or a removal applies at the user's next request", async () => {
  const { a, b } = tenants;
  const cid = await workspaceMember(a, "cid");
  const path = `/workspaces/current/members/${cid.id}`;
  const rename = () => call(cid.key, "PATCH", `/workspaces/${a.workspaceId}`, { display_name: "Workspace A" });
  expect((await rename()).status).toBe(403);
  expect((await call(b.admin, "PATCH", path, { role_id: BUILT_IN_ROLES.WORKSPACE_ADMIN })).status).toBe(404);
  expect((await call(a.admin, "PATCH", path, { role_id: BUILT_IN_ROLES.WORKSPACE_ADMIN })).status).toBe(200);
  await expect.poll(async () => (await rename()).status, { timeout: 30_000 }).toBe(200);

  expect((await call(b.admin, "DELETE", path)).status).toBe(404);
  expect((await call(a.admin, "DELETE", path)).status).toBe(200);
  await expect.poll(async () => (await rename()).status, { timeout: 30_000 }).toBe(403);
  expect((await call(a.admin, "DELETE", path)).status).toBe(404);

  const again = { user_id: cid.userId, role_id: BUILT_IN_ROLES.WORKSPACE_VIEWER };
  expect((await call(a.admin, "POST", "/workspaces/current/members", again)).json).toMatchObject({
    role_name: "Viewer",
  });
  expect((await call(a.admin, "POST", "/workspaces/current/members", again)).status).toBe(409);
  expect((await call(b.admin, "POST", "/workspaces/current/members", again)).status).toBe(404);
});

test("a removed member's keys are rejected, and the last administrator cannot be removed", async () => {
  const { b } = tenants;
  const dan = await testPerson(db, b, "dan", { organization: "ORGANIZATION_ADMIN", workspace: "WORKSPACE_USER" });
  const dora = await testPerson(db, b, "dora", { workspace: "WORKSPACE_USER" });
  const path = `/orgs/current/members/${dan.memberId}`;
  expect((await call(dora.key, "DELETE", path)).status).toBe(403);
  expect((await call(b.org, "DELETE", path)).status).toBe(409);
  expect((await call(b.org, "PATCH", path, { role_id: BUILT_IN_ROLES.ORGANIZATION_USER })).status).toBe(409);
  const promote = { role_id: BUILT_IN_ROLES.ORGANIZATION_ADMIN, full_name: "Dora D." };
  expect((await call(dan.key, "PATCH", `/orgs/current/members/${dora.memberId}`, promote)).status).toBe(200);
  await expect.poll(async () => (await call(dora.key, "DELETE", path)).status, { timeout: 30_000 }).toBe(200);
  await expect.poll(async () => (await call(dan.key, "GET", "/workspaces")).status, { timeout: 30_000 }).toBe(401);
  const [left] = await db.sql`select count(*)::int as n from workspace_members where user_id = ${dan.userId}`;
  expect(left!["n"]).toBe(0);
});

test("a role holds permissions of one scope, applies changes to its users, and is not deleted while in use", async () => {
  const { a, b } = tenants;
  const role = (permissions: string[]) => ({ display_name: "Tracer", description: "Sends traces", permissions });
  const created = await call(a.org, "POST", "/orgs/current/roles", role(["runs:create"]));
  expect(created.json).toMatchObject({ access_scope: "workspace", permissions: ["runs:create"], name: "CUSTOM" });
  const { id } = created.json as { id: string };
  expect((await call(a.viewer, "GET", "/orgs/current/roles")).json).toHaveLength(7);
  expect((await call(b.viewer, "GET", "/orgs/current/roles")).json).toHaveLength(6);
  expect((await call(a.org, "POST", "/orgs/current/roles", role(["runs:read"]))).status).toBe(409);
  const other = (permissions: string[]) => ({ ...role(permissions), display_name: "Other" });
  expect((await call(a.org, "POST", "/orgs/current/roles", other(["runs:read", "organization:read"]))).status).toBe(
    422,
  );
  expect((await call(a.org, "POST", "/orgs/current/roles", other(["runs:fly"]))).status).toBe(422);
  expect((await call(a.admin, "POST", "/orgs/current/roles", other(["runs:read"]))).status).toBe(403);

  const { key, id: keyId } = (await call(a.admin, "POST", "/api-key", { role_id: id })).json as {
    key: string;
    id: string;
  };
  expect((await call(key, "GET", "/api-key")).status).toBe(403);
  expect((await call(b.org, "PATCH", `/orgs/current/roles/${id}`, role(["workspaces:read"]))).status).toBe(404);
  expect((await call(a.org, "PATCH", `/orgs/current/roles/${id}`, role(["organization:read"]))).status).toBe(404);
  expect((await call(a.org, "PATCH", `/orgs/current/roles/${id}`, role(["workspaces:read"]))).status).toBe(200);
  await expect.poll(async () => (await call(key, "GET", "/api-key")).status, { timeout: 30_000 }).toBe(200);

  expect((await call(a.org, "DELETE", `/orgs/current/roles/${id}`)).status).toBe(409);
  await db.sql`delete from api_keys where id = ${keyId}`;
  expect((await call(b.org, "DELETE", `/orgs/current/roles/${id}`)).status).toBe(404);
  expect((await call(a.org, "DELETE", `/orgs/current/roles/${id}`)).status).toBe(200);
  expect((await call(a.org, "DELETE", `/orgs/current/roles/${BUILT_IN_ROLES.WORKSPACE_ADMIN}`)).status).toBe(404);
});

test("the built-in roles match the migration, and permissions are listed", async () => {
  const rows = await db.sql<{ id: string; name: string }[]>`select id, name from roles where organization_id is null`;
  expect(Object.fromEntries(rows.map(({ id, name }) => [name, id]))).toEqual(BUILT_IN_ROLES);
  const { json } = await call(tenants.a.viewer, "GET", "/orgs/permissions");
  expect(json).toContainEqual(expect.objectContaining({ name: "workspaces:manage", access_scope: "workspace" }));
});
