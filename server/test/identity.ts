import { randomUUID } from "node:crypto";

import type { Guard } from "../src/base/http/route.ts";
import { createLog } from "../src/base/log.ts";
import { createKey } from "../src/identity/api-keys/create-key.ts";
import { newKey } from "../src/identity/api-keys/key-text.ts";
import { revokeKey } from "../src/identity/api-keys/sql.ts";
import { type Identity, openIdentity, type IdentityOptions } from "../src/identity/identity.ts";
import { insertOrganization } from "../src/identity/organizations/sql.ts";
import { BUILT_IN_ROLES } from "../src/identity/roles/built-in.ts";
import { identityOptions } from "../src/identity/settings.ts";
import { insertWorkspace } from "../src/identity/workspaces/sql.ts";
import { readOptions } from "../src/base/config/options.ts";
import { atEnd } from "./at-end.ts";
import type { TestDatabase } from "./db.ts";

/** A workspace in its own organization, with the texts of keys to it. */
export interface TestWorkspace {
  organizationId: string;
  workspaceId: string;
  /** Key of the workspace with all permissions. */
  admin: string;
  /** Keys of an editor and of a viewer. */
  editor: string;
  viewer: string;
  /** Administrator's read-only key. */
  readOnly: string;
  expired: string;
  revoked: string;
  /** Key of the organization with all permissions; requests must name the workspace. */
  org: string;
}

export interface TestTenants {
  a: TestWorkspace;
  b: TestWorkspace;
  /** Well-formed key that does not exist. */
  unknown: string;
}

/** Creates two isolated tenants, with keys of every kind. */
export async function testTenants(db: TestDatabase): Promise<TestTenants> {
  return { a: await testWorkspace(db, "A"), b: await testWorkspace(db, "B"), unknown: newKey("service") };
}

export async function testWorkspace({ sql }: TestDatabase, name: string): Promise<TestWorkspace> {
  const organization = await insertOrganization(sql, { id: randomUUID(), display_name: `Organization ${name}` });
  const workspaceId = randomUUID();
  await insertWorkspace(sql, {
    id: workspaceId,
    organization_id: organization.id,
    display_name: `Workspace ${name}`,
    tenant_handle: null,
    plan: "enterprise",
    is_default: false,
  });
  const organizationId = organization.id;
  const base = {
    organizationId,
    kind: "service" as const,
    userId: null,
    readOnly: false,
    expiresAt: null,
    workspaceIds: [workspaceId] as string[] | null,
    defaultWorkspaceId: null,
    roleId: BUILT_IN_ROLES.WORKSPACE_ADMIN as string,
    organizationRoleId: null as string | null,
  };
  const make = (description: string, changes: Partial<Parameters<typeof createKey>[1]> = {}) =>
    createKey(sql, { ...base, description, ...changes });

  const expired = await make("expired", { expiresAt: new Date(Date.now() + 60_000) });
  await sql`update api_keys set expires_at = now() - interval '1 minute' where id = ${expired.id}`;
  const revoked = await make("revoked");
  await revokeKey(sql, revoked.id, { organizationId });
  const { ORGANIZATION_ADMIN, WORKSPACE_USER, WORKSPACE_VIEWER } = BUILT_IN_ROLES;
  return {
    organizationId,
    workspaceId,
    admin: (await make("admin")).key,
    editor: (await make("editor", { roleId: WORKSPACE_USER })).key,
    viewer: (await make("viewer", { roleId: WORKSPACE_VIEWER })).key,
    readOnly: (await make("read-only", { readOnly: true })).key,
    expired: expired.key,
    revoked: revoked.key,
    org: (await make("org", { workspaceIds: null, organizationRoleId: ORGANIZATION_ADMIN })).key,
  };
}

/**
 * Creates the real guard, as of a separate server that needs keys. For an application that serves one workspace: `{
 * HEDDLE_WORKSPACE_ID: id }` and `ofOneWorkspace`.
 */
export async function testGuard(
  db: TestDatabase,
  env: Record<string, string> = {},
  options: Partial<Pick<IdentityOptions, "ofOneWorkspace" | "host" | "resource">> = {},
): Promise<Guard & { identity: Identity }> {
  const identity = await openIdentity({
    sql: db.sql,
    log: createLog("error"),
    settings: readOptions(identityOptions, { HEDDLE_AUTH: "required", ...env }),
    host: options.host ?? "127.0.0.1",
    ofOneWorkspace: options.ofOneWorkspace ?? false,
    ...(options.resource !== undefined && { resource: options.resource }),
  });
  atEnd(() => identity.stop());
  return { identity, ...identity.guard };
}
