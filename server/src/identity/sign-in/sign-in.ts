import { unauthorized } from "../../base/errors.ts";
import type { SignInDeps } from "./deps.ts";
import { type OpenSession, openSession, type Visitor } from "./open-session.ts";
import { isOutdated } from "./password-hash.ts";
import { recordFailedSignIn, recordSignIn } from "./record-sign-in.ts";
import { rehashPassword, selectPassword } from "./sql.ts";
import { countSignIn, isKnownDevice, noteSuccess } from "./throttle.ts";
import { newDeviceToken } from "./device-cookie.ts";

export interface PasswordCredentials {
  /** Lower case. */
  email: string;
  password: string;
}

interface BrowserVisitor {
  /** Whether the session is for a browser, which gets a device cookie. */
  isBrowser: boolean;
  /** Token of its device cookie. */
  device: string | undefined;
}

/**
 * Opens a session for a correct password. 401 with the same text, after the same amount of work, for a wrong password,
 * an unknown address, a disabled account and an account without a password; 429 after too many attempts.
 */
export async function signIn(
  deps: SignInDeps,
  { email, password }: PasswordCredentials,
  visitor: Visitor & BrowserVisitor,
): Promise<OpenSession & { device: string | undefined }> {
  const { sql } = deps;
  const attempt = await countSignIn(sql, deps.throttle, { account: email, ip: visitor.ip, device: visitor.device });
  const row = await selectPassword(sql, email);
  const stored = row?.password_hash ?? undefined;
  const right = await deps.passwords.matches(stored, password, attempt);
  if (!row || stored === undefined || !right || row.disabled) {
    await recordFailedSignIn(deps, visitor);
    throw unauthorized("The e-mail address or the password is wrong.");
  }
  const device = visitor.isBrowser ? await resolveDevice(deps, email, visitor.device) : undefined;
  await noteSuccess(sql, attempt, { userId: row.user_id, device });
  if (isOutdated(stored)) await rehashPassword(sql, row.user_id, stored, await deps.passwords.hash(password));
  const session = await openSession(sql, deps.settings, {
    id: row.user_id,
    method: "password",
    visitor,
    isBrowser: visitor.isBrowser,
  });
  await recordSignIn(deps, { userId: row.user_id, email: row.email, session, method: "password", visitor });
  return { ...session, device };
}

/**
 * Returns the device token. One that another visitor may have planted, or that belongs to another account, is replaced.
 */
async function resolveDevice({ sql }: SignInDeps, email: string, token: string | undefined): Promise<string> {
  return token !== undefined && (await isKnownDevice(sql, email, token)) ? token : newDeviceToken();
}

/** Parses `Authorization: Basic`; undefined when absent or malformed. */
export function basicCredentials(header: string | undefined): PasswordCredentials | undefined {
  const encoded = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? "")?.[1];
  if (encoded === undefined || encoded.length > 4096) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon === -1) return undefined;
  return { email: text.slice(0, colon).trim().toLowerCase(), password: text.slice(colon + 1) };
}
