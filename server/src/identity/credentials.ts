import { forbidden } from "../base/errors.ts";
import { isUuid } from "../base/ids.ts";
import { NO_WORKSPACE } from "./grant.ts";
import type { SessionSource } from "./session-source.ts";

/** What is sent to get in: a key, or the token of a session. */
export interface Presented {
  text: string;
  /** A browser sent it, perhaps without its user's wish. */
  isCookie: boolean;
}

/** `x-api-key` goes before `Authorization: Bearer`, which takes keys and session tokens; the cookie comes last. */
export function presentedCredential(headers: Headers, sessions: SessionSource): Presented | undefined {
  const text = headers.get("x-api-key")?.trim() || bearerOf(headers);
  if (text) return { text, isCookie: false };
  const session = sessions.readBrowserSession(headers);
  return session ? { text: session, isCookie: true } : undefined;
}

function bearerOf(headers: Headers): string | undefined {
  const value = headers.get("authorization");
  return value ? /^bearer\s+(\S+)\s*$/i.exec(value)?.[1] : undefined;
}

/** The workspace that `X-Tenant-Id` names, in lower case; undefined without the header. What is no id names none. */
export function namedWorkspace(headers: Headers): string | undefined {
  const value = headers.get("x-tenant-id")?.trim();
  if (!value) return undefined;
  return isUuid(value) ? value.toLowerCase() : NO_WORKSPACE;
}

/** The same for a workspace of others and for none, so that nobody finds out which there are. */
export const notEntered = () => forbidden("Forbidden: this key may not enter the workspace that X-Tenant-Id names.");
