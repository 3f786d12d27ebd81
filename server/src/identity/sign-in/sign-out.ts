import { selectUser } from "../members/sql.ts";
import type { SignInDeps } from "./deps.ts";
import { findPerson } from "./record-sign-in.ts";
import { hashSessionToken } from "./session-token.ts";
import { deleteSession, deleteUserSessions } from "./sql.ts";

/** Ends the session, or all sessions of its person. Succeeds for an expired token too. */
export async function signOut(deps: SignInDeps, token: string, everywhere: boolean, ip: string): Promise<void> {
  const { sql } = deps;
  const ended = await sql.begin(async (transaction) => {
    const session = await deleteSession(transaction, hashSessionToken(token));
    const others = session && everywhere ? await deleteUserSessions(transaction, session.user_id) : 0;
    return session && { ...session, others };
  });
  if (!ended) return;
  const user = await selectUser(sql, ended.user_id);
  await deps.audit.record({
    principal: await findPerson(deps, { userId: ended.user_id, email: user?.email ?? "", sessionId: ended.id }),
    ip,
    operation: "POST /logout",
    target: { session_id: ended.id, ended: String(1 + ended.others) },
    status: 204,
  });
}
