import { z } from "zod";

import {
  notBuilt,
  queryBoolean,
  queryLimit,
  queryMany,
  queryOffset,
  storableText,
  uuid,
} from "../../base/http/fields.ts";

export const email = z
  .email()
  .max(320)
  .transform((text) => text.toLowerCase());

const accessScope = z.enum(["organization", "workspace"]);

const roles = {
  role_id: uuid.nullable(),
  role_name: z.string().nullable(),
  access_scope: accessScope,
  org_role_id: uuid.nullable(),
  org_role_name: z.string().nullable(),
};

const memberFields = {
  id: uuid.describe("Id of the membership"),
  organization_id: uuid,
  tenant_id: uuid.nullable(),
  created_at: z.iso.datetime(),
  user_id: uuid,
  ls_user_id: uuid,
  read_only: z.boolean(),
  email: z.string(),
  full_name: z.string().nullable(),
  display_name: z.string(),
  is_disabled: z.boolean(),
  ...roles,
};

export const workspaceMember = z.object(memberFields).meta({ id: "WorkspaceMember" });
export const organizationMember = z
  .object({ ...memberFields, tenant_ids: z.array(uuid) })
  .meta({ id: "OrganizationMember" });

const pendingFields = {
  id: uuid.describe("Id of the invitation, or of the membership if the user has an account"),
  organization_id: uuid,
  tenant_id: uuid.nullable(),
  user_id: uuid.nullable(),
  email: z.string(),
  full_name: z.string().nullable(),
  read_only: z.boolean(),
  created_at: z.iso.datetime(),
  workspace_ids: z.array(uuid),
  workspace_role_id: uuid.nullable(),
  ...roles,
};

export const pendingMember = z.object({ ...pendingFields, tenant_ids: z.array(uuid) }).meta({ id: "PendingMember" });

export const organizationMembers = z.object({
  organization_id: uuid,
  members: z.array(organizationMember),
  pending: z.array(pendingMember),
});

export const workspaceMembers = z.object({
  tenant_id: uuid,
  members: z.array(workspaceMember),
  pending: z.array(pendingMember),
});

export const memberId = z.object({ identity_id: uuid });

/** Invitation by e-mail address. `role_id` is the role in the organization. */
export const invitation = z.object({
  email,
  full_name: storableText.max(200).nullish(),
  read_only: z.boolean().nullish(),
  role_id: uuid.nullish(),
  workspace_ids: z.array(uuid).max(1000).nullish(),
  workspace_role_id: uuid.nullish(),
  password: notBuilt("password"),
});

export type Invitation = z.output<typeof invitation>;

export const invitations = z.array(invitation).min(1).max(500);

/** Member of the organization, by any of the three ids. */
export const newWorkspaceMember = z
  .object({
    user_id: uuid.nullish(),
    ls_user_id: uuid.nullish(),
    org_identity_id: uuid.nullish(),
    read_only: z.boolean().nullish(),
    role_id: uuid.nullish(),
  })
  .refine((body) => body.user_id ?? body.ls_user_id ?? body.org_identity_id, "user_id or org_identity_id is required");

export const organizationMemberChange = z.object({
  role_id: uuid.nullish(),
  full_name: storableText.max(200).nullish(),
  password: notBuilt("password"),
});

export const workspaceMemberChange = z.object({ role_id: uuid, read_only: z.boolean().nullish() });

export const listQuery = z.object({
  limit: queryLimit(50, 500),
  offset: queryOffset,
  emails: queryMany(z.string().max(320)),
  user_ids: queryMany(uuid),
  q: storableText.max(320).optional().describe("Text contained in the name or e-mail address"),
  is_disabled: queryBoolean,
});

export type MemberQuery = z.output<typeof listQuery>;
