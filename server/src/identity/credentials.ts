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
 * Returns a header's value. Clients that send a header twice, such as `X-API-Key` beside `x-api-key` (Python langsmith
 * 0.10.18 to 0.14.10), arrive as `value, value`, which counts as one. Different values are returned joined, and so
 * match nothing: which of them the client meant is unknown.
 */
export function singleValue(headers: Headers, name: string, normalize = (value: string) => value): string | undefined {
  const received = headers.get(name)?.trim();
  const value = received && normalize(received);
  if (!value?.includes(",")) return value || undefined;
  const parts = value.split(",").map((part) => part.trim());
  const [first, ...others] = parts.filter((part) => part !== "");
  return others.every((other) => other === first) ? first : value;
}

/**
 * Returns the credential of a request. `x-api-key` takes precedence over `Authorization: Bearer`, which takes keys and
 * session tokens; the cookie comes last.
 */
export function presentedCredential(headers: Headers, sessions: SessionSource): PresentedCredential | undefined {
  const text = singleValue(headers, "x-api-key") ?? bearerToken(headers);
  if (text) return { text, isCookie: false };
  const session = sessions.readBrowserSession(headers);
  return session ? { text: session, isCookie: true } : undefined;
}

function bearerToken(headers: Headers): string | undefined {
  const value = singleValue(headers, "authorization");
  return value ? /^bearer\s+(\S+)\s*$/i.exec(value)?.[1] : undefined;
}

/**
 * Returns the workspace id of `X-Tenant-Id`, in lower case; undefined without the header. A malformed id matches no
 * workspace.
 */
export function namedWorkspace(headers: Headers): string | undefined {
  const value = singleValue(headers, "x-tenant-id", (id) => id.toLowerCase());
  if (!value) return undefined;
  return isUuid(value) ? value : NO_WORKSPACE;
}

/** The same error for a foreign and for a missing workspace, so that callers cannot probe which exist. */
export const notEntered = () => forbidden("Forbidden: this key has no access to the workspace in X-Tenant-Id.");
