import { unauthorized } from "../../base/errors.ts";
import type { SignInDeps } from "./deps.ts";
import { type OpenSession, openSession, type Visitor } from "./open-session.ts";
import { isOutdated } from "./password-hash.ts";
import { recordFailedSignIn, recordSignIn } from "./record-sign-in.ts";
import { rehashPassword, selectPassword } from "./sql.ts";
import { countSignIn, forgetSignIn } from "./throttle.ts";

export interface GivenPassword {
  /** Lower case. */
  email: string;
  password: string;
}

/**
 * A session for whoever knows the password. 401 with one and the same text, after one and the same work, for a
 * wrong password, an unknown address, a disabled account and one without a password; 429 after too many attempts.
 */
export async function signIn(
  deps: SignInDeps,
  { email, password }: GivenPassword,
  visitor: Visitor,
): Promise<OpenSession> {
  const { sql } = deps;
  await countSignIn(sql, email, visitor.ip);
  const row = await selectPassword(sql, email);
  const stored = row?.password_hash ?? undefined;
  const right = await deps.passwords.matches(stored, password);
  if (!row || stored === undefined || !right || row.disabled) {
    await recordFailedSignIn(deps, visitor);
    throw unauthorized("The e-mail address or the password is wrong.");
  }
  await forgetSignIn(sql, email, visitor.ip);
  if (isOutdated(stored)) await rehashPassword(sql, row.user_id, stored, await deps.passwords.hash(password));
  const session = await openSession(sql, deps.settings, { id: row.user_id, method: "password", visitor });
  await recordSignIn(deps, { userId: row.user_id, email: row.email, session, method: "password", visitor });
  return session;
}

/** `Authorization: Basic`; undefined when there is none or it cannot be read. */
export function basicCredentials(header: string | undefined): GivenPassword | undefined {
  const encoded = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? "")?.[1];
  if (encoded === undefined || encoded.length > 4096) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon === -1) return undefined;
  return { email: text.slice(0, colon).trim().toLowerCase(), password: text.slice(colon + 1) };
}
