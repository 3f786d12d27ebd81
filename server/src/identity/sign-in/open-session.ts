import type { Sql } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { hashSessionToken, joinSessionToken, newCsrfToken, newSessionToken } from "./session-token.ts";
import type { SignInSettings } from "./settings.ts";
import { insertSession, trimSessions } from "./sql.ts";

const SESSIONS_PER_PERSON = 100;
const LONGEST_USER_AGENT = 300;

export interface Visitor {
  ip: string;
  userAgent: string;
}

export interface OpenSession {
  id: string;
  userId: string;
  /** Shown once; only a hash is stored. For a browser it is the value of the cookie. */
  token: string;
  /** Second part of a browser's session, which pages send in a header; undefined for programs. Shown once. */
  csrfToken: string | undefined;
  expiresAt: Date;
  maxSecs: number;
}

/**
 * Opens a session for a user who has just authenticated; always a new one, so that none can be planted beforehand. A
 * browser's session has two parts, see `joinSessionToken`.
 */
export async function openSession(
  sql: Sql,
  settings: Pick<SignInSettings, "sessionIdleMinutes" | "sessionMaxHours">,
  user: { id: string; method: "password" | "oidc"; visitor: Visitor; isBrowser: boolean },
): Promise<OpenSession> {
  const token = newSessionToken();
  const csrfToken = user.isBrowser ? newCsrfToken() : undefined;
  const id = uuid7();
  const maxSecs = settings.sessionMaxHours * 3600;
  const expiresAt = await sql.begin(async (transaction) => {
    const until = await insertSession(transaction, {
      id,
      user_id: user.id,
      token_hash: hashSessionToken(csrfToken === undefined ? token : joinSessionToken(token, csrfToken)),
      idle_seconds: settings.sessionIdleMinutes * 60,
      max_seconds: maxSecs,
      method: user.method,
      ip: user.visitor.ip,
      user_agent: user.visitor.userAgent.slice(0, LONGEST_USER_AGENT).replaceAll("\0", "\uFFFD"),
    });
    await trimSessions(transaction, user.id, SESSIONS_PER_PERSON);
    return until;
  });
  return { id, userId: user.id, token, csrfToken, expiresAt, maxSecs };
}
