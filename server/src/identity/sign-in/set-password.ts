import { unauthorized } from "../../base/errors.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { SignInDeps } from "./deps.ts";
import { checkPassword, type PasswordHashing } from "./password-hash.ts";
import { deleteUserSessions, selectPassword, upsertPassword } from "./sql.ts";
import { countPasswordChange } from "./throttle.ts";

/**
 * Sets a password and ends the person's other sessions, which locks out anyone who knew the old one; `keepSession`
 * stays. Throws 422 for a weak password. Must run in a transaction.
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
  await deleteUserSessions(sql, user.id, keepSession);
}

/**
 * Changes the caller's own password. Requires the current one, so that an unattended browser is not enough. Throws 401
 * if it is wrong.
 */
export async function changePassword(
  deps: SignInDeps,
  account: { userId: string; email: string; sessionId: string },
  change: { current: string; next: string },
): Promise<void> {
  const forget = await countPasswordChange(deps.sql, account.sessionId);
  const row = await selectPassword(deps.sql, account.email);
  const right = await deps.passwords.matches(row?.password_hash ?? undefined, change.current);
  if (!right) throw unauthorized("The current password is wrong.");
  await forget();
  const user = { id: account.userId, email: account.email };
  const { passwords } = deps;
  await deps.sql.begin((sql) => setPassword({ sql, passwords }, user, change.next, account.sessionId));
}
