import type { AuditEntry } from "../../base/auth/principal.ts";
import { NO_WORKSPACE } from "../grant.ts";
import { selectPersonGrant } from "../members/sql.ts";
import type { SignInDeps } from "./deps.ts";
import type { Visitor } from "./open-session.ts";

interface SignedIn {
  userId: string;
  email: string;
  session: { id: string };
  method: "password" | "oidc";
  visitor: Visitor;
}

/** Records a new session in the audit log, durably before its token is returned. */
export async function recordSignIn(
  deps: SignInDeps,
  { userId, email, session, method, visitor }: SignedIn,
): Promise<void> {
  await deps.audit.record({
    principal: await findPerson(deps, { userId, email, sessionId: session.id }),
    ip: visitor.ip,
    operation: "POST /login",
    target: { session_id: session.id, method },
    status: 200,
  });
}

/**
 * Records a failed sign-in, aggregated by the audit log. The typed address is omitted: it may be a password in the
 * wrong field.
 */
export async function recordFailedSignIn(deps: SignInDeps, visitor: Visitor): Promise<void> {
  await deps.audit.record({ principal: null, ip: visitor.ip, operation: "POST /login", target: {}, status: 401 });
}

export async function findPerson(
  deps: Pick<SignInDeps, "sql">,
  person: { userId: string; email: string; sessionId: string },
): Promise<NonNullable<AuditEntry["principal"]>> {
  const grant = await selectPersonGrant(deps.sql, person.userId, null);
  return {
    actor: { kind: "session", id: person.sessionId, name: person.email, userId: person.userId },
    organizationId: grant?.organization_id ?? NO_WORKSPACE,
    workspaceId: grant?.workspace_id ?? NO_WORKSPACE,
  };
}
