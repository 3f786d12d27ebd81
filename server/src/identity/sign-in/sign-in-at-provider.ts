import { forbidden } from "../../base/errors.ts";
import { welcomeInvited } from "../members/add-member.ts";
import { selectUser, selectUserByEmail, type UserRow } from "../members/sql.ts";
import type { SignInDeps } from "./deps.ts";
import { type OpenSession, openSession, type Visitor } from "./open-session.ts";
import type { ProvidedPerson } from "./openid-provider.ts";
import { recordSignIn } from "./record-sign-in.ts";
import { bindFirstIdentity, selectIdentity } from "./sql.ts";

/** Opens a session for a person authenticated by the provider. 403 for a person without an account here. */
export async function signInAtProvider(
  deps: SignInDeps,
  person: ProvidedPerson,
  visitor: Visitor,
): Promise<OpenSession> {
  const user = await findUser(deps, person);
  if (!user || user.disabled_at !== null) {
    throw forbidden(
      "The identity provider knows you, but you have no account here. Ask an administrator to invite you.",
    );
  }
  const session = await openSession(deps.sql, deps.settings, { id: user.id, method: "oidc", visitor, isBrowser: true });
  await recordSignIn(deps, { userId: user.id, email: user.email, session, method: "oidc", visitor });
  return session;
}

/**
 * Finds the user by the provider's subject; the first time by e-mail address, if the provider has verified it. From
 * then on the address is ignored, because it may be reassigned to another person, who does not get the account either.
 * Invited persons get an account.
 */
async function findUser({ sql }: SignInDeps, person: ProvidedPerson): Promise<UserRow | undefined> {
  const known = await selectIdentity(sql, person.issuer, person.subject);
  if (known) return selectUser(sql, known.user_id);
  if (person.email === null) return undefined;
  const user = (await selectUserByEmail(sql, person.email)) ?? (await welcomeInvited(sql, person.email, person.name));
  if (!user) return undefined;
  await bindFirstIdentity(sql, { issuer: person.issuer, subject: person.subject, user_id: user.id });
  const bound = await selectIdentity(sql, person.issuer, person.subject);
  if (bound?.user_id === user.id) return user;
  throw forbidden(
    `The account ${user.email} belongs to another identity of the provider. If the person is the same, an operator can ` +
      `release the account: heddle users unlink --email ${user.email}`,
  );
}
