import { randomUUID } from "node:crypto";

import { beforeAll, describe, expect, test } from "vitest";

import { testDatabase } from "../../test/db.ts";
import { testGuard, type TestTenants, testTenants } from "../../test/identity.ts";
import { ALL_PERMISSIONS } from "../base/auth/permissions.ts";
import type { Authenticator, Principal } from "../base/auth/principal.ts";
import { AppError } from "../base/errors.ts";
import { newKey } from "./api-keys/key-text.ts";

const db = await testDatabase();
let tenants: TestTenants;
let required: Authenticator;

beforeAll(async () => {
  tenants = await testTenants(db);
  required = (await testGuard(db)).authenticator;
});

async function ask(
  authenticator: Authenticator,
  headers: Record<string, string>,
  options: { needsWorkspace?: boolean } = {},
): Promise<Principal | AppError> {
  try {
    return await authenticator.authenticate({
      headers: new Headers(headers),
      method: "GET",
      ip: "1.2.3.4",
      ...options,
    });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const answerStatus = (answer: Principal | AppError): number => (answer instanceof AppError ? answer.status : 200);

describe("with required keys", () => {
  test("accepts a key as x-api-key in any case or as a bearer token, and resolves its owner", async () => {
    const { admin, workspaceId, organizationId } = tenants.a;
    for (const headers of [
      { "x-api-key": admin },
      { "X-API-KEY": admin },
      { authorization: `Bearer ${admin}` },
      { Authorization: `bearer ${admin}` },
      { "x-api-key": admin, "X-Tenant-Id": workspaceId.toUpperCase() },
      { "x-api-key": admin, "X-Organization-Id": organizationId },
    ] as Record<string, string>[]) {
      expect(await ask(required, headers)).toMatchObject({
        workspaceId,
        organizationId,
        plan: "enterprise",
        actor: { kind: "service_key", name: "admin", userId: null },
      });
    }
  });

  test("accepts a header that is sent twice with the same value, and every pair of headers that clients send", async () => {
    const { admin, org, workspaceId, organizationId } = tenants.a;
    const twice = (value: string) => `${value}, ${value}`;
    for (const headers of [
      { "x-api-key": twice(admin) },
      { "x-api-key": `${admin},${admin},${admin}` },
      { "x-api-key": `, ${admin}` },
      { "x-api-key": admin, authorization: `Bearer ${admin}` },
      { "x-api-key": admin, authorization: "Bearer of-a-proxy" },
      { authorization: twice(`Bearer ${admin}`) },
      { "x-api-key": twice(org), "x-tenant-id": twice(workspaceId), "x-organization-id": twice(organizationId) },
      { "x-api-key": admin, "x-tenant-id": `${workspaceId}, ${workspaceId.toUpperCase()}` },
    ] as Record<string, string>[]) {
      expect([headers, await ask(required, headers)]).toMatchObject([headers, { workspaceId }]);
    }
  });

  test("rejects a header with two different values, whichever is valid", async () => {
    const { a, b } = tenants;
    const keys = [`${a.admin}, ${b.admin}`, `${b.admin}, ${a.admin}`, `${a.admin}, x`, `x, ${a.admin}`];
    for (const key of keys) expect(answerStatus(await ask(required, { "x-api-key": key }))).toBe(401);
    const workspaces = `${a.workspaceId}, ${b.workspaceId}`;
    expect(answerStatus(await ask(required, { "x-api-key": a.admin, "x-tenant-id": workspaces }))).toBe(403);
  });

  test("no key, a malformed key and an unknown key are 401, with a challenge", async () => {
    const { admin, workspaceId, revoked } = tenants.a;
    const swapped = admin.slice(0, -1) + (admin.endsWith("0") ? "1" : "0");
    for (const headers of [
      {},
      { "x-api-key": "" },
      { "x-api-key": "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789" },
      { "x-api-key": "x".repeat(10_000) },
      { "x-api-key": swapped },
      { "x-api-key": tenants.unknown },
      { "x-api-key": admin.toUpperCase() },
      { "x-api-key": revoked },
      { authorization: admin },
      { authorization: `Basic ${admin}` },
      { authorization: `Bearer heddle_session_${"0".repeat(64)}` },
      { "X-Tenant-Id": workspaceId },
      { "X-Tenant-Id": "no uuid" },
      { "X-Tenant-Id": workspaceId, "x-api-key": tenants.unknown },
    ] as Record<string, string>[]) {
      const answer = await ask(required, headers);
      expect([headers, answerStatus(answer)]).toEqual([headers, 401]);
      expect((answer as AppError).headers["WWW-Authenticate"]).toBe("Bearer");
    }
  });

  test("an expired key is 403, also when it expires while cached", async () => {
    expect(answerStatus(await ask(required, { "x-api-key": tenants.a.expired }))).toBe(403);
    const { admin } = tenants.b;
    await db.sql`update api_keys set expires_at = now() + interval '2 s' where description = 'editor' and organization_id = ${tenants.b.organizationId}`;
    const before = await ask(required, { "x-api-key": tenants.b.editor });
    expect(answerStatus(before)).toBe(200);
    await new Promise((done) => setTimeout(done, 2050));
    expect(answerStatus(await ask(required, { "x-api-key": tenants.b.editor }))).toBe(403);
    expect(answerStatus(await ask(required, { "x-api-key": admin }))).toBe(200);
  });

  test("a forbidden workspace is 403, with the same message as an unknown one", async () => {
    const { a, b } = tenants;
    const answers = [];
    for (const key of [a.admin, a.org]) {
      for (const id of [b.workspaceId, randomUUID(), "no uuid"]) {
        answers.push(await ask(required, { "x-api-key": key, "x-tenant-id": id }));
        answers.push(await ask(required, { "x-api-key": key, "x-tenant-id": id }, { needsWorkspace: false }));
      }
    }
    answers.push(await ask(required, { "x-api-key": a.admin, "x-tenant-id": NIL }, { needsWorkspace: false }));
    expect(new Set(answers.map(answerStatus))).toEqual(new Set([403]));
    expect(new Set(answers.map((answer) => (answer as AppError).message)).size).toBe(1);
    expect(answerStatus(await ask(required, { "x-api-key": a.admin, "x-organization-id": b.organizationId }))).toBe(
      403,
    );
  });

  test("an organization key must name the workspace, except for requests on the organization", async () => {
    const { org, workspaceId } = tenants.a;
    const unnamed = await ask(required, { "x-api-key": org });
    expect(unnamed).toMatchObject({ status: 403, code: "org_scoped_key_requires_workspace" });
    expect((unnamed as AppError).message).toContain("requires workspace specification");
    expect(await ask(required, { "x-api-key": org, "x-tenant-id": workspaceId })).toMatchObject({ workspaceId });
    const outside = (await ask(required, { "x-api-key": org }, { needsWorkspace: false })) as Principal;
    expect(outside.workspaceId).toBe(NIL);
    expect(outside.permissions.has("organization:manage")).toBe(true);
    expect(outside.permissions.size).toBe(ALL_PERMISSIONS.length);
  });

  test("a role grants its permissions, and read-only keeps only those that read", async () => {
    const permissions = async (key: string) => (await ask(required, { "x-api-key": key })) as Principal;
    const [admin, viewer, readOnly] = await Promise.all(
      [tenants.a.admin, tenants.a.viewer, tenants.a.readOnly].map(permissions),
    );
    expect(admin!.permissions.has("workspaces:manage")).toBe(true);
    expect(admin!.permissions.has("organization:manage")).toBe(false);
    expect([...viewer!.permissions].filter((name) => !name.endsWith(":read"))).toEqual([]);
    expect(viewer!.permissions.has("audit:read")).toBe(false);
    expect([...readOnly!.permissions].filter((name) => !name.endsWith(":read"))).toEqual([]);
    expect(readOnly!.permissions.has("audit:read")).toBe(true);
  });

  test("a server of one workspace rejects keys of others, and organization keys need not name it", async () => {
    const { a, b } = tenants;
    const env = { HEDDLE_WORKSPACE_ID: a.workspaceId };
    const { authenticator } = await testGuard(db, env, { ofOneWorkspace: true });
    expect(answerStatus(await ask(authenticator, { "x-api-key": a.admin }))).toBe(200);
    expect(await ask(authenticator, { "x-api-key": a.org })).toMatchObject({ workspaceId: a.workspaceId });
    for (const headers of [
      { "x-api-key": b.admin },
      { "x-api-key": b.org },
      { "x-api-key": b.admin, "x-tenant-id": a.workspaceId },
      { "x-api-key": b.admin, "x-tenant-id": b.workspaceId },
      { "x-api-key": b.org, "x-tenant-id": b.workspaceId },
      { "x-api-key": a.org, "x-tenant-id": b.workspaceId },
    ] as Record<string, string>[]) {
      expect([headers, answerStatus(await ask(authenticator, headers))]).toEqual([headers, 403]);
    }
    expect(answerStatus(await ask(authenticator, { "x-tenant-id": a.workspaceId }))).toBe(401);
  });
});

describe("on loopback with optional keys", () => {
  test("a request without a valid key has full access to the default workspace", async () => {
    const { identity, authenticator } = await testGuard(db, { HEDDLE_AUTH: "auto" });
    for (const headers of [
      {},
      { "x-api-key": "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789" },
      { "x-api-key": newKey("service") },
      { "x-api-key": "anything", "x-tenant-id": randomUUID() },
      { "x-tenant-id": "no uuid" },
    ] as Record<string, string>[]) {
      const principal = (await ask(authenticator, headers)) as Principal;
      expect(principal).toMatchObject({ actor: { kind: "local" }, workspaceId: identity.workspaceId });
      expect(principal.permissions.size).toBe(ALL_PERMISSIONS.length);
    }
  });

  test("a workspace is selected by its id, and a valid key keeps its own permissions", async () => {
    const { a } = tenants;
    const { authenticator } = await testGuard(db, { HEDDLE_AUTH: "off" });
    expect(await ask(authenticator, { "x-tenant-id": a.workspaceId })).toMatchObject({
      actor: { kind: "local" },
      workspaceId: a.workspaceId,
      organizationId: a.organizationId,
    });
    const viewer = (await ask(authenticator, { "x-api-key": a.viewer })) as Principal;
    expect(viewer).toMatchObject({ workspaceId: a.workspaceId, actor: { kind: "service_key" } });
    expect(viewer.permissions.has("workspaces:manage")).toBe(false);
    expect(answerStatus(await ask(authenticator, { "x-api-key": a.revoked }))).toBe(401);
    expect(answerStatus(await ask(authenticator, { "x-api-key": a.expired }))).toBe(403);
  });

  test("keys are required beyond loopback, and turning them off is rejected", async () => {
    const { identity, authenticator } = await testGuard(db, { HEDDLE_AUTH: "auto" }, { host: "0.0.0.0" });
    expect(identity.keysNeeded).toBe(true);
    expect(answerStatus(await ask(authenticator, {}))).toBe(401);
    await expect(testGuard(db, { HEDDLE_AUTH: "off" }, { host: "0.0.0.0" })).rejects.toThrow("HEDDLE_AUTH is off");
  });
});

const NIL = "00000000-0000-0000-0000-000000000000";
