import { forbidden } from "../base/errors.ts";
import { isUuid } from "../base/ids.ts";
import { NO_WORKSPACE } from "./grant.ts";
import type { SessionSource } from "./session-source.ts";

/** A presented credential: a key or a session token. */
export interface PresentedCredential {
  text: string;
  /** Whether a browser sent it as a cookie, perhaps without its user's intent. */
  isCookie: boolean;
}

/**
 * Returns the credential of a request. `x-api-key` takes precedence over `Authorization: Bearer`, which takes keys and
 * session tokens; the cookie comes last.
 */
export function presentedCredential(headers: Headers, sessions: SessionSource): PresentedCredential | undefined {
  const text = headers.get("x-api-key")?.trim() || bearerToken(headers);
  if (text) return { text, isCookie: false };
  const session = sessions.readBrowserSession(headers);
  return session ? { text: session, isCookie: true } : undefined;
}

function bearerToken(headers: Headers): string | undefined {
  const value = headers.get("authorization");
  return value ? /^bearer\s+(\S+)\s*$/i.exec(value)?.[1] : undefined;
}

/**
 * Returns the workspace id of `X-Tenant-Id`, in lower case; undefined without the header. A malformed id matches no
 * workspace.
 */
export function namedWorkspace(headers: Headers): string | undefined {
  const value = headers.get("x-tenant-id")?.trim();
  if (!value) return undefined;
  return isUuid(value) ? value.toLowerCase() : NO_WORKSPACE;
}

/** The same error for a foreign and for a missing workspace, so that callers cannot probe which exist. */
export const notEntered = () => forbidden("Forbidden: this key has no access to the workspace in X-Tenant-Id.");
