import { ALL_PERMISSIONS, type Permission } from "../../base/auth/permissions.ts";

/** Permissions of callers that a project's own code admits. */
export const AGENT_PERMISSIONS: ReadonlySet<Permission> = new Set(
  ALL_PERMISSIONS.filter((permission) => /^(assistants|threads|runs|store|crons):/.test(permission)),
);
