import { z } from "zod";

import { storableText, uuid } from "../../base/http/fields.ts";
import { plan } from "../workspaces/schema.ts";

export const organizationSummary = z
  .object({
    id: uuid,
    display_name: z.string(),
    tier: plan,
    created_at: z.iso.datetime(),
    modified_at: z.iso.datetime(),
    is_personal: z.boolean(),
    disabled: z.boolean(),
  })
  .meta({ id: "OrganizationSummary" });

/** Subset of the contract's switches that apply here. */
const organizationConfig = z
  .object({
    plan_tier: plan,
    max_identities: z.int(),
    max_workspaces: z.int(),
    can_use_rbac: z.boolean(),
    can_use_audit_logs: z.boolean(),
    can_use_bulk_export: z.boolean(),
  })
  .meta({ id: "OrganizationConfig" });

const fields = {
  id: uuid,
  display_name: z.string(),
  config: organizationConfig,
  is_personal: z.boolean(),
  tier: plan,
  reached_max_workspaces: z.boolean(),
  permissions: z.array(z.string()).describe("The caller's permissions in the organization"),
};

export const organizationInfo = z.object(fields).meta({ id: "OrganizationInfo" });

export const organization = z
  .object({
    ...fields,
    connected_to_stripe: z.boolean(),
    connected_to_metronome: z.boolean(),
    has_cancelled: z.boolean(),
  })
  .meta({ id: "Organization" });

/** The contract's other fields control features that do not exist here; they are rejected, not ignored. */
export const organizationChange = z.strictObject({
  display_name: storableText
    .min(1)
    .max(100)
    .regex(/^[a-zA-Z0-9\-_ ]+$/, "may only contain letters, digits, spaces, - and _"),
});

/** Empty strings where the credential has no person. */
export const publicAuth = z
  .object({
    user_id: z.string(),
    ls_user_id: z.string(),
    user_email: z.string(),
    tenant_id: z.string(),
    organization_id: z.string(),
  })
  .meta({ id: "PublicAuthInfo" });
