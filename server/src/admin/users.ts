import { randomBytes } from "node:crypto";

import type { Sql } from "../base/db/connect.ts";
import { notFound, unprocessable } from "../base/errors.ts";
import { uuid7 } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { ensureWorkspace } from "../identity/first-start.ts";
import {
  insertOrganizationMember,
  insertUser,
  insertWorkspaceMember,
  selectUserByEmail,
} from "../identity/members/sql.ts";
import { BUILT_IN_ROLES } from "../identity/roles/built-in.ts";
import { PasswordHashing } from "../identity/sign-in/password-hash.ts";
import { setPassword } from "../identity/sign-in/set-password.ts";
import { deleteIdentities, deleteUserSessions } from "../identity/sign-in/sql.ts";
import { selectWorkspace, type WorkspaceRow } from "../identity/workspaces/sql.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

/** `admin` covers the organization and all of its workspaces; the others, a single workspace. */
export const USER_ROLES = ["admin", "editor", "viewer"] as const;
export type UserRole = (typeof USER_ROLES)[number];

const ROLES = {
  admin: { organization: BUILT_IN_ROLES.ORGANIZATION_ADMIN, workspace: BUILT_IN_ROLES.WORKSPACE_ADMIN },
  editor: { organization: BUILT_IN_ROLES.ORGANIZATION_USER, workspace: BUILT_IN_ROLES.WORKSPACE_USER },
  viewer: { organization: BUILT_IN_ROLES.ORGANIZATION_USER, workspace: BUILT_IN_ROLES.WORKSPACE_VIEWER },
} as const;

export interface NewUser {
  email: string;
  fullName: string | null;
  role: UserRole;
  /** The default workspace when undefined. */
  workspaceId: string | undefined;
  /** `none`: the user signs in at the identity provider only. */
  password: { given: string } | "generate" | "none";
}

/** @returns the generated password, if any; it is not stored and cannot be shown again */
export function createUser(
  location: DataLocation,
  user: NewUser,
): Promise<{ workspace: string; password: string | null }> {
  return withDatabase(location, async ({ sql, log }) => {
    const email = checkedEmail(user.email);
    const workspace = await findWorkspace(sql, user.workspaceId);
    const { id: workspaceId, organization_id: organizationId } = workspace;
    const id = uuid7();
    const { password: choice } = user;
    const password = choice === "none" ? null : choice === "generate" ? generatePassword() : choice.given;
    const created = await sql.begin(async (tx) => {
      if (!(await insertUser(tx, { id, email, full_name: user.fullName }))) return false;
      const { organization, workspace: inWorkspace } = ROLES[user.role];
      const member = { id: uuid7(), user_id: id, organization_id: organizationId, role_id: organization };
      await insertOrganizationMember(tx, member);
      const workspaceMember = {
        id: uuid7(),
        user_id: id,
        workspace_id: workspaceId,
        role_id: inWorkspace,
        read_only: false,
      };
      await insertWorkspaceMember(tx, workspaceMember);
      if (password !== null) await setPassword({ sql: tx, passwords: new PasswordHashing() }, { id, email }, password);
      return true;
    });
    if (!created) throw unprocessable(`The user ${email} already exists.`);
    const target = { user_id: id, role: user.role };
    await recordCommand(sql, log, "heddle users create", target, { of: { organizationId, workspaceId }, location });
    return { workspace: workspace.display_name, password: choice === "generate" ? password : null };
  });
}

/** Resets a password and ends the user's sessions. A null `password` generates and returns a new one. */
export function resetPassword(location: DataLocation, email: string, password: string | null): Promise<string | null> {
  return withUser(location, email, "heddle users password", async (sql, user) => {
    const next = password ?? generatePassword();
    await sql.begin((tx) => setPassword({ sql: tx, passwords: new PasswordHashing() }, user, next));
    return password === null ? next : null;
  });
}

/**
 * Disables or enables a user. Disabling deletes the user's sessions and suspends their keys; enabling restores the
 * keys.
 */
export function disableUser(location: DataLocation, email: string, disabled: boolean): Promise<void> {
  return withUser(location, email, `heddle users ${disabled ? "disable" : "enable"}`, async (sql, { id }) => {
    await sql.begin(async (tx) => {
      await tx`update users set disabled_at = ${disabled ? new Date() : null}, updated_at = now() where id = ${id}`;
      if (disabled) await deleteUserSessions(tx, id);
    });
  });
}

/** Forgets a user's identities at providers and ends their sessions; the next sign-in binds the account again. */
export function unlinkUser(location: DataLocation, email: string): Promise<void> {
  return withUser(location, email, "heddle users unlink", async (sql, { id }) => {
    await sql.begin(async (tx) => {
      await deleteIdentities(tx, id);
      await deleteUserSessions(tx, id);
    });
  });
}

export interface ListedUser {
  email: string;
  full_name: string | null;
  disabled: boolean;
  has_password: boolean;
  /** Names of the user's roles in organizations and workspaces. */
  roles: string[];
}

/** Lists up to 1000 users after `after`, by email address. */
export function listUsers(location: DataLocation, after = ""): Promise<ListedUser[]> {
  return withDatabase(
    location,
    ({ sql }) => sql<ListedUser[]>`
      select u.email, u.full_name, u.disabled_at is not null as disabled, p.user_id is not null as has_password,
        array(
          select r.display_name from organization_members m join roles r on r.id = m.role_id where m.user_id = u.id
          union all
          select r.display_name || ' of ' || w.display_name from workspace_members m
          join roles r on r.id = m.role_id join workspaces w on w.id = m.workspace_id
          where m.user_id = u.id and w.deleted_at is null
        ) as roles
      from users u left join user_passwords p on p.user_id = u.id
      where u.email > ${after} order by u.email limit 1000`,
  );
}

async function findWorkspace(sql: Sql, id: string | undefined): Promise<WorkspaceRow> {
  if (id !== undefined) {
    const workspace = await selectWorkspace(sql, id);
    if (!workspace) throw notFound(`There is no workspace ${id}.`);
    return workspace;
  }
  const { workspace } = await ensureWorkspace(sql);
  return workspace;
}

function withUser<T>(
  location: DataLocation,
  email: string,
  operation: string,
  work: (sql: Sql, user: { id: string; email: string }) => Promise<T>,
): Promise<T> {
  return withDatabase(location, async ({ sql, log }: { sql: Sql; log: Log }) => {
    const user = await selectUserByEmail(sql, email.trim());
    if (!user) throw notFound(`There is no user ${email}.`);
    const result = await work(sql, user);
    await recordCommand(sql, log, operation, { user_id: user.id }, { location });
    return result;
  });
}

function checkedEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254)
    throw unprocessable(`"${text}" is not an e-mail address.`);
  return email;
}

/** Returns 120 random bits. */
const generatePassword = (): string => randomBytes(15).toString("base64url");
