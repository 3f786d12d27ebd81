import { z } from "zod";

import { queryFlag, storableText, uuid } from "../../base/http/fields.ts";

export const plan = z.enum(["developer", "plus", "enterprise"]);

/** Pattern of the contract. */
const displayName = storableText
  .min(1)
  .max(100)
  .regex(/^[a-zA-Z0-9\-_ '@()]+$/, "may only contain letters, digits, spaces and -_'@()");

const handle = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "may only contain lowercase letters, digits, - and _")
  .nullish();

const fields = {
  id: uuid,
  organization_id: uuid,
  display_name: z.string(),
  tenant_handle: z.string().nullable(),
  created_at: z.iso.datetime(),
  is_personal: z.boolean(),
  is_deleted: z.boolean(),
  plan,
};

export const workspace = z.object(fields).meta({ id: "Workspace" });

export const visibleWorkspace = z
  .object({
    ...fields,
    read_only: z.boolean(),
    role_id: uuid.nullable(),
    role_name: z.string(),
    permissions: z.array(z.string()),
  })
  .meta({ id: "VisibleWorkspace" });

export const workspaceId = z.object({ workspace_id: uuid });

export const newWorkspace = z.object({
  id: uuid.optional(),
  display_name: displayName,
  tenant_handle: handle,
  plan: plan.default("enterprise"),
  organization_id: uuid.nullish(),
  is_personal: z.literal(false, "personal workspaces are not supported").default(false),
});

export const workspaceChange = z
  .object({ display_name: displayName.optional(), plan: plan.optional() })
  .refine(
    (change) => change.display_name !== undefined || change.plan !== undefined,
    "display_name or plan is required",
  );

export const listQuery = z.object({ include_deleted: queryFlag });
