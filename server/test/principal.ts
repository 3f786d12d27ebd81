import { ALL_PERMISSIONS, type Permission } from "../src/base/auth/permissions.ts";
import type { AuditSink, Principal } from "../src/base/auth/principal.ts";
import type { Guard } from "../src/base/http/route.ts";

const ORGANIZATION = "00000000-0000-7000-8000-0000000000aa";
export const WORKSPACE = "00000000-0000-7000-8000-000000000001";

/** Somebody of a workspace who may do everything, or only what is listed. */
export function testPrincipal(workspaceId = WORKSPACE, permissions: Permission[] = ALL_PERMISSIONS): Principal {
  return {
    actor: { kind: "local", id: "", name: "a test", userId: null },
    organizationId: ORGANIZATION,
    workspaceId,
    plan: "enterprise",
    permissions: new Set(permissions),
  };
}

/** Keeps nothing. */
export const noAudit: AuditSink = {
  record: () => Promise.resolve(),
  announce: () => Promise.resolve({ record: () => Promise.resolve(), withdraw: () => {} }),
};

/** A guard that lets everybody in; `x-test-workspace` says as whose. For tests of what lies behind the guard. */
export const openGuard: Guard = {
  authenticator: {
    authenticate: ({ headers }) => testPrincipal(headers.get("x-test-workspace") ?? WORKSPACE),
  },
  audit: noAudit,
  auditsData: false,
  served: () => testPrincipal(),
};
