import { z } from "zod";

import { PERMISSIONS } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { IdentityDeps } from "../deps.ts";
import { NO_WORKSPACE } from "../grant.ts";
import { selectUser } from "../members/sql.ts";
import * as schema from "./schema.ts";
import { type OrganizationRow, selectOrganization, selectOrganizationsOfUser, updateOrganization } from "./sql.ts";

const shared = { tag: "Organization", scope: "organization" } as const;
const reading = { ...shared, permission: "workspaces:read", method: "GET" } as const;

export function organizationRoutes({ sql }: IdentityDeps): Route[] {
  async function current({ organizationId }: Principal): Promise<OrganizationRow> {
    const row = await selectOrganization(sql, organizationId);
    if (!row) throw notFound("Organization not found");
    return row;
  }

  return [
    route({
      ...reading,
      ...v1("/orgs"),
      summary: "List the caller's organizations",
      out: { 200: z.array(schema.organizationSummary) },
      async handler({ principal, c }) {
        const { userId } = principal.actor;
        const rows = userId ? await selectOrganizationsOfUser(sql, userId) : [await current(principal)];
        return c.json(
          rows.map((row) => ({
            ...row,
            created_at: row.created_at.toISOString(),
            modified_at: row.modified_at.toISOString(),
            tier: "enterprise" as const,
            is_personal: false,
            disabled: false,
          })),
        );
      },
    }),
    route({
      ...reading,
      ...v1("/orgs/current"),
      summary: "Get the caller's organization",
      out: { 200: schema.organization },
      handler: async ({ principal, c }) =>
        c.json({
          ...toInfo(await current(principal), principal),
          connected_to_stripe: false,
          connected_to_metronome: false,
          has_cancelled: false,
        }),
    }),
    route({
      ...reading,
      ...v1("/orgs/current/info"),
      summary: "Get the caller's organization without billing data",
      out: { 200: schema.organizationInfo },
      handler: async ({ principal, c }) => c.json(toInfo(await current(principal), principal)),
    }),
    route({
      ...shared,
      ...v1("/orgs/current/info"),
      method: "PATCH",
      permission: "organization:manage",
      summary: "Rename the organization",
      body: schema.organizationChange,
      out: { 200: schema.organizationInfo },
      errors: [404],
      async handler({ body, principal, c }) {
        const row = await updateOrganization(sql, principal.organizationId, body);
        if (!row) throw notFound("Organization not found");
        return c.json(toInfo(row, principal));
      },
    }),
    route({
      ...reading,
      path: "/auth/public",
      aliases: ["/api/v1/auth/public", "/v1/auth/public", "/auth", "/api/v1/auth"],
      summary: "Get the caller's identity",
      out: { 200: schema.publicAuth },
      async handler({ principal, c }) {
        const { userId } = principal.actor;
        const user = userId ? await selectUser(sql, userId) : undefined;
        return c.json({
          user_id: userId ?? "",
          ls_user_id: userId ?? "",
          user_email: user?.email ?? "",
          tenant_id: principal.workspaceId === NO_WORKSPACE ? "" : principal.workspaceId,
          organization_id: principal.organizationId,
        });
      },
    }),
  ];
}

/** Value for limits that an installation does not have, so that clients do not assume the hosted ones. */
const UNLIMITED = 1_000_000;

function toInfo(row: OrganizationRow, principal: Principal): z.output<typeof schema.organizationInfo> {
  return {
    id: row.id,
    display_name: row.display_name,
    config: {
      plan_tier: "enterprise",
      max_identities: UNLIMITED,
      max_workspaces: UNLIMITED,
      can_use_rbac: true,
      can_use_audit_logs: true,
      can_use_bulk_export: true,
    },
    is_personal: false,
    tier: "enterprise",
    reached_max_workspaces: false,
    permissions: [...principal.permissions].filter((name) => PERMISSIONS[name].scope === "organization"),
  };
}
