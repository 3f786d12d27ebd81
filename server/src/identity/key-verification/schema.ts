import { z } from "zod";

import { PERMISSIONS, type Permission } from "../../base/auth/permissions.ts";

/**
 * Request of a server without keys to one that has them. It contains digests; the keys themselves are never forwarded.
 */
export const verifyBody = z.object({
  keys: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, "must be SHA-256 digests as hex digits"))
    .min(1)
    .max(500),
});

const permissions = Object.keys(PERMISSIONS) as [Permission, ...Permission[]];

const principal = z.object({
  actor: z.object({
    kind: z.enum(["api_key", "service_key"]),
    id: z.string(),
    name: z.string(),
    user_id: z.string().nullable(),
  }),
  organization_id: z.guid(),
  workspace_id: z.guid(),
  plan: z.enum(["developer", "plus", "enterprise"]),
  permissions: z.array(z.enum(permissions)),
});

/** `elsewhere`: the key does not give access to the calling server's workspace. */
export const verdict = z.union([
  z.object({ status: z.enum(["unknown", "revoked", "elsewhere"]) }),
  z.object({ status: z.literal("known"), expires_at: z.iso.datetime().nullable(), principal }),
]);

/** `version` changes with every change of keys, roles, members and workspaces. */
export const verifyAnswer = z.object({ version: z.string(), verdicts: z.array(verdict) });

export const changesQuery = z.object({
  version: z.string().max(40).optional(),
  wait: z.coerce.number().min(0).max(20).default(0).describe("Seconds to wait for a different version."),
});
export const changesAnswer = z.object({ version: z.string() });

export const selfAnswer = z.object({
  organization_id: z.guid(),
  workspace_id: z.guid(),
  plan: z.enum(["developer", "plus", "enterprise"]),
});

export type VerdictWire = z.output<typeof verdict>;
export type PrincipalWire = z.output<typeof principal>;
