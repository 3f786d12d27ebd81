import { forbidden } from "../../base/errors.ts";
import { welcomeInvited } from "../members/add-member.ts";
import { selectUser, selectUserByEmail, type UserRow } from "../members/sql.ts";
import type { SignInDeps } from "./deps.ts";
import { type OpenSession, openSession, type Visitor } from "./open-session.ts";
import type { ProvidedPerson } from "./openid-provider.ts";
import { recordSignIn } from "./record-sign-in.ts";
import { insertIdentity, selectIdentity } from "./sql.ts";

/** A session for somebody whom the provider vouches for. 403 for whoever is nobody here. */
export async function signInAtProvider(
  deps: SignInDeps,
  person: ProvidedPerson,
  visitor: Visitor,
): Promise<OpenSession> {
  const user = await userOf(deps, person);
  if (!user || user.disabled_at !== null) {
    throw forbidden("You are known to the identity provider, but not here. Ask an administrator to invite you.");
  }
  const session = await openSession(deps.sql, deps.settings, { id: user.id, method: "oidc", visitor, isBrowser: true });
  await recordSignIn(deps, { userId: user.id, email: user.email, session, method: "oidc", visitor });
  return session;
}

/**
 * By the provider's own name for the person; the first time by the address, if the provider has verified it. From
 * then on the address does not matter, because it may pass to somebody else. Who was invited gets an account.
 */
async function userOf({ sql }: SignInDeps, person: ProvidedPerson): Promise<UserRow | undefined> {
  const known = await selectIdentity(sql, person.issuer, person.subject);
  if (known) return selectUser(sql, known.user_id);
  if (person.email === null) return undefined;
  const user = (await selectUserByEmail(sql, person.email)) ?? (await welcomeInvited(sql, person.email, person.name));
  if (user) await insertIdentity(sql, { issuer: person.issuer, subject: person.subject, user_id: user.id });
  return user;
}
