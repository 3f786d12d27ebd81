import { randomUUID } from "node:crypto";

import { insertOrganizationMember, insertUser, insertWorkspaceMember } from "../src/identity/members/sql.ts";
import { createKey } from "../src/identity/api-keys/create-key.ts";
import { type BuiltInRole, BUILT_IN_ROLES } from "../src/identity/roles/built-in.ts";
import { openSession } from "../src/identity/sign-in/open-session.ts";
import { readOptions } from "../src/base/config/options.ts";
import { signInOptions } from "../src/identity/sign-in/settings.ts";
import type { TestDatabase } from "./db.ts";
import type { TestWorkspace } from "./identity.ts";

export interface TestPerson {
  userId: string;
  /** Id of the membership of the organization. */
  memberId: string;
  email: string;
  /** Text of a personal key that names no workspace. */
  key: string;
}

/** Creates a user with a personal key; a member of the workspace when given a role there. */
export async function testPerson(
  { sql }: TestDatabase,
  { organizationId, workspaceId }: TestWorkspace,
  name: string,
  roles: { organization?: BuiltInRole; workspace?: BuiltInRole } = {},
): Promise<TestPerson> {
  const email = `${name}@example.com`;
  const userId = randomUUID();
  await insertUser(sql, { id: userId, email, full_name: name });
  const role_id = BUILT_IN_ROLES[roles.organization ?? "ORGANIZATION_USER"];
  const member = { id: randomUUID(), organization_id: organizationId, user_id: userId, role_id };
  await insertOrganizationMember(sql, member);
  if (roles.workspace) {
    const of = { workspace_id: workspaceId, role_id: BUILT_IN_ROLES[roles.workspace], read_only: false };
    await insertWorkspaceMember(sql, { id: randomUUID(), user_id: userId, ...of });
  }
  const { key } = await createKey(sql, {
    organizationId,
    kind: "personal",
    userId,
    description: `${name}'s key`,
    readOnly: false,
    expiresAt: null,
    workspaceIds: null,
    defaultWorkspaceId: null,
    roleId: null,
    organizationRoleId: null,
  });
  return { userId, memberId: member.id, email, key };
}

/** Signs a person in. @returns the session's token, as a program sends it */
export async function addSession({ sql }: TestDatabase, { userId }: TestPerson): Promise<string> {
  const visitor = { ip: "127.0.0.1", userAgent: "test" };
  const settings = readOptions(signInOptions, {});
  return (await openSession(sql, settings, { id: userId, method: "password", visitor, isBrowser: false })).token;
}
