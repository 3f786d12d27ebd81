import type { Sql } from "../../base/db/connect.ts";
import type { SessionSource } from "../session-source.ts";
import { refuseForgery, sessionCookieOf } from "./session-cookie.ts";
import { looksLikeSessionToken } from "./session-token.ts";
import type { SignInSettings } from "./settings.ts";
import { selectSession } from "./sql.ts";

/** Sessions as the authenticator asks for them. */
export function createSessionSource(sql: Sql, settings: Pick<SignInSettings, "publicUrl">): SessionSource {
  return {
    cookieOf(headers) {
      const token = sessionCookieOf(settings, headers);
      // anything else would be a look-up for nothing
      return token !== undefined && looksLikeSessionToken(token) ? token : undefined;
    },
    refuseForgery: (method, headers) => refuseForgery(settings, method, headers),
    async find(tokenHash) {
      const row = await selectSession(sql, tokenHash);
      return row && { id: row.id, userId: row.user_id, expiresAt: row.ends_at };
    },
  };
}
