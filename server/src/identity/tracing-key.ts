import { createHash, timingSafeEqual } from "node:crypto";

import type { Authenticator, Principal } from "../base/auth/principal.ts";

/**
 * Lets in who bears `tracingKey`, for sending traces and issuing feedback links and nothing else; `others` decide
 * about everybody else. It is the key that an agent server and a trace platform of one start share, so that runs can
 * be traced where keys are needed: made anew at each start and held in memory by both.
 */
export function withTracingKey(
  others: Authenticator,
  tracingKey: string,
  of: { organizationId: string; workspaceId: string; plan: Principal["plan"] },
): Authenticator {
  const expected = digest(tracingKey);
  const principal: Principal = {
    actor: { kind: "system", id: "", name: "tracing of runs", userId: null },
    ...of,
    permissions: new Set(["runs:create", "feedback:create"] as const),
  };
  return {
    authenticate(credentials) {
      const given = credentials.headers.get("x-api-key");
      if (given?.length !== tracingKey.length || !timingSafeEqual(digest(given), expected)) {
        return others.authenticate(credentials);
      }
      return principal;
    },
  };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
