import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import type { Permission } from "../base/auth/permissions.ts";
import type { Authenticator, Principal } from "../base/auth/principal.ts";
import { unauthorized } from "../base/errors.ts";
import { singleValue } from "./credentials.ts";

type WorkspaceScope = Pick<Principal, "organizationId" | "workspaceId" | "plan">;

/** Permissions of a workspace's key, by purpose. */
const PERMISSIONS = {
  send: ["runs:create", "feedback:create"],
  "delete-project": ["projects:read", "projects:delete"],
} as const satisfies Record<string, readonly Permission[]>;
export type TracingPurpose = keyof typeof PERMISSIONS;

const DERIVED = /^heddle_trace_(send|delete-project)_([0-9a-f-]{36})_([\w-]{43})$/;
/** Time in milliseconds for which a resolved workspace is cached. */
const REMEMBER_MS = 10_000;

/**
 * Derives a key that allows one purpose in one workspace. Only holders of the tracing key can derive it, and it cannot
 * be used to derive another.
 */
export function workspaceTracingKey(tracingKey: string, workspaceId: string, purpose: TracingPurpose): string {
  const proof = createHmac("sha256", tracingKey).update(`${purpose}\n${workspaceId}`).digest("base64url");
  return `heddle_trace_${purpose}_${workspaceId}_${proof}`;
}

/**
 * Accepts `tracingKey` for sending traces and issuing feedback links only; `others` authenticates all other
 * credentials. An agent server and a trace platform started together share this key, so that runs can be traced where
 * keys are required. It is generated at each start and held in memory by both. A control plane derives keys from it for
 * the workspaces whose deployments it runs; `find` resolves those workspaces.
 */
export function withTracingKey(
  others: Authenticator,
  tracingKey: string,
  of: WorkspaceScope,
  find: (workspaceId: string) => Promise<WorkspaceScope | undefined> = () => Promise.resolve(undefined),
): Authenticator {
  const known = new Map<string, { scope: WorkspaceScope; until: number }>();

  async function findScope(workspaceId: string): Promise<WorkspaceScope> {
    const remembered = known.get(workspaceId);
    if (remembered && remembered.until > performance.now()) return remembered.scope;
    const scope = await find(workspaceId);
    known.delete(workspaceId);
    if (!scope) throw unauthorized("This key is for a workspace that does not exist.");
    known.set(workspaceId, { scope, until: performance.now() + REMEMBER_MS });
    return scope;
  }

  return {
    authenticate(credentials) {
      const key = singleValue(credentials.headers, "x-api-key") ?? "";
      if (isSame(key, tracingKey)) return tracingPrincipal(of, "send");
      const [, purpose, workspaceId] = DERIVED.exec(key) ?? [];
      if (purpose === undefined || workspaceId === undefined) return others.authenticate(credentials);
      if (!isSame(key, workspaceTracingKey(tracingKey, workspaceId, purpose as TracingPurpose))) {
        return others.authenticate(credentials);
      }
      return findScope(workspaceId).then((scope) => tracingPrincipal(scope, purpose as TracingPurpose));
    },
  };
}

const tracingPrincipal = (scope: WorkspaceScope, purpose: TracingPurpose): Principal => ({
  actor: { kind: "system", id: "", name: "tracing of runs", userId: null },
  ...scope,
  permissions: new Set<Permission>(PERMISSIONS[purpose]),
});

/** Compares in constant time. */
const isSame = (received: string, expected: string): boolean =>
  received.length === expected.length && timingSafeEqual(digest(received), digest(expected));

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
