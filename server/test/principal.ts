import { ALL_PERMISSIONS, type Permission } from "../src/base/auth/permissions.ts";
import type { AuditSink, Principal } from "../src/base/auth/principal.ts";
import type { Guard } from "../src/base/http/route.ts";

const ORGANIZATION = "00000000-0000-7000-8000-0000000000aa";
export const WORKSPACE = "00000000-0000-7000-8000-000000000001";

/** Returns a member of a workspace with all permissions, or only those listed. */
export function testPrincipal(workspaceId = WORKSPACE, permissions: Permission[] = ALL_PERMISSIONS): Principal {
  return {
    actor: { kind: "local", id: "", name: "a test", userId: null },
    organizationId: ORGANIZATION,
    workspaceId,
    plan: "enterprise",
    permissions: new Set(permissions),
  };
}

/** Audit sink that discards everything. */
export const noAudit: AuditSink = {
  record: () => Promise.resolve(),
  announce: () => Promise.resolve({ record: () => Promise.resolve(), withdraw: () => {} }),
};

/** Guard that admits every request; `x-test-workspace` names the workspace. For tests of code behind the guard. */
export const openGuard: Guard = {
  authenticator: {
    authenticate: ({ headers }) => testPrincipal(headers.get("x-test-workspace") ?? WORKSPACE),
  },
  audit: noAudit,
  auditsData: false,
  served: () => testPrincipal(),
};
