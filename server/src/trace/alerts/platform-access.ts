import type { Principal } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { forbidden } from "../../base/errors.ts";
import { isPlatformMetric } from "./definition.ts";
import { findFirstOrganization, findAlertRule } from "./sql.ts";
import { unknownAlert } from "./unknown-alert.ts";

/**
 * Whether a caller may watch the platform itself: its metrics are those of all tenants. Administrators of the
 * installation are those of its first organization.
 */
export async function maySeePlatform(sql: Sql, { permissions, organizationId }: Principal): Promise<boolean> {
  return permissions.has("organization:manage") && (await findFirstOrganization(sql)) === organizationId;
}

/** @throws 403 for a rule on the platform that the caller may not watch */
export async function checkPlatformRule(
  sql: Sql,
  principal: Principal,
  rule: { attribute?: string | undefined } | null | undefined,
): Promise<void> {
  if (!isPlatformMetric(rule?.attribute) || (await maySeePlatform(sql, principal))) return;
  throw forbidden("Forbidden: metrics of the platform are for administrators of its first organization.");
}

/** @throws 404 for a stored rule on the platform that the caller may not see */
export async function checkVisible(sql: Sql, principal: Principal, id: string | null | undefined): Promise<void> {
  const rule = id == null ? undefined : await findAlertRule(sql, principal.workspaceId, id);
  if (!isPlatformMetric(rule?.definition.attribute) || (await maySeePlatform(sql, principal))) return;
  throw unknownAlert(id!);
}
