import type { AuditSink } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import type { OpenIdProvider } from "./openid-provider.ts";
import type { PasswordHashing } from "./password-hash.ts";
import type { AttemptThrottle } from "./attempt-throttle.ts";
import type { SignInSettings } from "./settings.ts";

/** Dependencies of sign-in. */
export interface SignInDeps {
  sql: Sql;
  log: Log;
  settings: SignInSettings;
  audit: AuditSink;
  passwords: PasswordHashing;
  throttle: AttemptThrottle;
  /** Null when none is configured. */
  provider: OpenIdProvider | null;
}
