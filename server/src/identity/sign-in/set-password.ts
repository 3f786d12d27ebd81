import { unauthorized } from "../../base/errors.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { SignInDeps } from "./deps.ts";
import { checkPassword, type PasswordHashing } from "./password-hash.ts";
import { deleteSessionsOf, selectPassword, upsertPassword } from "./sql.ts";
import { countPasswordChange } from "./throttle.ts";

/**
 * A new password for somebody. It ends the person's sessions, but for one that may stay: whoever knew the old
 * password is out. 422 for a password that is too weak. To be called in a transaction.
 */
export async function setPassword(
  { sql, passwords }: { sql: Sql | Transaction; passwords: PasswordHashing },
  user: { id: string; email: string },
  password: string,
  keepSession: string | null = null,
): Promise<void> {
  checkPassword(password, user.email);
  const hash = await passwords.hash(password);
  await upsertPassword(sql, user.id, hash);
  await deleteSessionsOf(sql, user.id, keepSession);
}

/** The person changes it, who has to know the old one: a browser left open is not enough. 401 when they do not. */
export async function changePassword(
  deps: SignInDeps,
  who: { userId: string; email: string; sessionId: string },
  given: { current: string; next: string },
): Promise<void> {
  const forget = await countPasswordChange(deps.sql, who.sessionId);
  const row = await selectPassword(deps.sql, who.email);
  const right = await deps.passwords.matches(row?.password_hash ?? undefined, given.current);
  if (!right) throw unauthorized("The current password is wrong.");
  await forget();
  const user = { id: who.userId, email: who.email };
  const { passwords } = deps;
  await deps.sql.begin((sql) => setPassword({ sql, passwords }, user, given.next, who.sessionId));
}
