import type { Sql } from "../../base/db/connect.ts";
import type { SessionSource } from "../session-source.ts";
import { readBrowserSession, rejectForgery } from "./session-cookie.ts";
import type { SignInSettings } from "./settings.ts";
import { selectSession } from "./sql.ts";

/** Creates the session source of the authenticator. */
export function createSessionSource(sql: Sql, settings: Pick<SignInSettings, "browserUrl">): SessionSource {
  return {
    readBrowserSession: (headers) => readBrowserSession(settings, headers),
    rejectForgery: (method, headers) => rejectForgery(settings, method, headers),
    async find(tokenHash) {
      const row = await selectSession(sql, tokenHash);
      return row && { id: row.id, userId: row.user_id, expiresAt: row.ends_at };
    },
  };
}
