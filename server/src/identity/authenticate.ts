/**
 * Authenticates requests by the three schemes of LangSmith's clients. A key is sent as
 * `x-api-key` or as a bearer token, a session as a bearer token or in its cookie. `X-Tenant-Id` selects among the
 * workspaces that the credential may enter, and is no credential itself.
 *
 *     no credential, unknown or revoked             401
 *     expired                                       403
 *     for several workspaces, none of them named    403, code org_scoped_key_requires_workspace
 *     a workspace named that may not be entered     403
 *
 * On a server without keys (loopback) a caller without credentials is `local`, unless it is a deployment
 * (`requiresKey`). The SDKs always send LANGSMITH_API_KEY, so a key of another issuer is ignored there, and so is the
 * id of a workspace that does not exist. A key of ours is always checked, even if the result is 401 or 403.
 */
import type { Authenticator, Credentials, Principal } from "../base/auth/principal.ts";
import type { Sql } from "../base/db/connect.ts";
import { GroupCommit } from "../base/db/group-commit.ts";
import { AppError, forbidden } from "../base/errors.ts";
import type { PeerCheck } from "../base/http/confined-peers.ts";
import { hashKey, looksLikeKey } from "./api-keys/key-text.ts";
import type { LastUsed } from "./api-keys/last-used.ts";
import { selectKeyGrants, type KeyLookup } from "./api-keys/sql.ts";
import { namedWorkspace, notEntered, presentedCredential, singleValue } from "./credentials.ts";
import { type Grant, toGrant } from "./grant.ts";
import { type Finding, type IdentityCache, selectIdentityVersion, type Verdict } from "./identity-cache.ts";
import { selectPersonGrant } from "./members/sql.ts";
import type { SessionSource } from "./session-source.ts";
import { looksLikeSessionToken } from "./sign-in/session-token.ts";
import { selectWorkspace } from "./workspaces/sql.ts";

/** Unknown keys looked up per statement; one such statement runs at a time. */
const BATCH = 500;
/** Maximum age of a cached session, because some of its changes, such as idle expiry, are never announced. */
const SESSION_AGE_MS = 30_000;
export interface AuthenticatorOptions {
  sql: Sql;
  cache: IdentityCache;
  lastUsed: LastUsed;
  sessions: SessionSource;
  /** Principal of callers without credentials; null where they are rejected. */
  local: () => Principal | null;
  /** Whether the program at the other end needs a key despite `local`; absent where no program does. */
  requiresKey?: PeerCheck | undefined;
  /** The only workspace that this server serves, if it serves one. */
  onlyWorkspace: string | null;
  /** Path of this server's protected resource: the only one at which tokens with an audience are valid. */
  resource?: string | undefined;
  /** Looks up keys where the database does not contain them. */
  findKeys?: (lookups: KeyLookup[]) => Promise<Finding[]>;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { sql, cache, lastUsed, sessions, local, onlyWorkspace, resource } = options;
  const keys = new GroupCommit<KeyLookup, Finding>(options.findKeys ?? ((lookups) => findKeys(sql, lookups)), {
    max: BATCH,
  });

  function authenticate(credentials: Credentials): Principal | Promise<Principal> {
    const { headers, method } = credentials;
    const named = namedWorkspace(headers);
    const presented = presentedCredential(headers, sessions);
    if (!presented) return localFor(credentials, named);
    const { text } = presented;
    const isKey = looksLikeKey(text);
    if (!isKey && !looksLikeSessionToken(text)) return rejectOrLocal(credentials, named);
    if (presented.isCookie) sessions.rejectForgery(method, headers);

    const hash = hashKey(text);
    const workspaceId = named ?? onlyWorkspace;
    const key = workspaceId === null ? hash : `${hash} ${workspaceId}`;
    const known = cache.get(key);
    if (known !== undefined) return checkVerdict(known, credentials, named);
    const lookUp = () =>
      isKey ? keys.call({ key_hash: hash, workspace_id: workspaceId }) : findPerson(sql, sessions, hash, workspaceId);
    return cache.load(key, lookUp).then((verdict) => checkVerdict(verdict, credentials, named));
  }

  function checkVerdict(
    verdict: Verdict,
    credentials: Credentials,
    named: string | undefined,
  ): Principal | Promise<Principal> {
    if (verdict === "unknown") return rejectOrLocal(credentials, named);
    if (verdict === "revoked") throw unauthorized("this key is no longer valid");
    if (verdict.expiresAt <= Date.now()) throw forbidden("Forbidden: this key has expired.");
    if (verdict.audience != null && !isAt(credentials.path, resource, verdict.audience)) {
      throw forbidden(`Forbidden: this token is valid for ${verdict.audience} only. Use an API key.`);
    }
    const principal = chosen(verdict, credentials.needsWorkspace !== false);
    const organization = singleValue(credentials.headers, "x-organization-id");
    if (organization && organization.toLowerCase() !== principal.organizationId) {
      throw forbidden("Forbidden: this key does not belong to the organization in X-Organization-Id.");
    }
    if (verdict.keyId !== null) lastUsed.note(verdict.keyId);
    return principal;
  }

  function chosen(grant: Grant, needsWorkspace: boolean): Principal {
    const principal = needsWorkspace ? grant.inWorkspace : grant.inOrganization;
    if (principal === "unnamed") throw unnamed();
    if (principal === "elsewhere") throw onlyWorkspace === null ? notEntered() : ofAnotherWorkspace();
    if (onlyWorkspace !== null && principal.workspaceId !== onlyWorkspace) throw ofAnotherWorkspace();
    return principal;
  }

  function rejectOrLocal(credentials: Credentials, named: string | undefined): Principal | Promise<Principal> {
    if (!local()) throw unauthorized("this key is not valid");
    return localFor(credentials, named);
  }

  /** Returns the principal without a key, in the workspace named by the header. */
  function localFor({ socket }: Credentials, named: string | undefined): Principal | Promise<Principal> {
    const principal = local();
    if (!principal) throw unauthorized("send a key in the header x-api-key");
    const isRejected = socket !== undefined && options.requiresKey?.(socket);
    if (isRejected === true) throw needsKeyHere();
    if (!isRejected) return named === undefined ? principal : localIn(principal, named);
    return isRejected.then((rejected) => {
      if (rejected) throw needsKeyHere();
      return named === undefined ? principal : localIn(principal, named);
    });
  }

  async function localIn(principal: Principal, named: string): Promise<Principal> {
    if (named === principal.workspaceId) return principal;
    const workspace = await selectWorkspace(sql, named);
    if (!workspace) return principal;
    if (onlyWorkspace !== null) throw ofAnotherWorkspace();
    return { ...principal, organizationId: workspace.organization_id, workspaceId: named, plan: workspace.plan };
  }

  return { authenticate };
}

const isAt = (path: string | undefined, resource: string | undefined, audience: string): boolean =>
  resource === audience && (path === "*" || path?.replace(/\/$/, "") === audience);

/** RFC 9110 §15.5.2 requires `WWW-Authenticate`; `Bearer` opens no dialog in browsers. */
const unauthorized = (reason: string): AppError =>
  new AppError(401, `Unauthorized: ${reason}.`, { headers: { "WWW-Authenticate": "Bearer" } });

const needsKeyHere = (): AppError =>
  unauthorized(
    "programs of this machine need no key, but deployments do, as does a program that closed its connection " +
      "before its user was determined. Send a key in the header x-api-key",
  );

/** The wording that clients match. */
const unnamed = (): AppError =>
  new AppError(
    403,
    "This API key is org-scoped and requires workspace specification. Please provide 'workspaceId' parameter, " +
      "or set LANGSMITH_WORKSPACE_ID environment variable.",
    { code: "org_scoped_key_requires_workspace" },
  );

const ofAnotherWorkspace = (): AppError => forbidden("Forbidden: this server belongs to another workspace.");

export async function findKeys(sql: Sql, lookups: KeyLookup[]): Promise<Finding[]> {
  const rows = await selectKeyGrants(sql, lookups);
  return rows.map(({ version, key }) => {
    if (!key) return { version, verdict: "unknown" };
    if (key.revoked_at !== null || key.user_disabled) return { version, verdict: "revoked" };
    const actor = {
      kind: key.kind === "service" ? "service_key" : "api_key",
      id: key.id,
      name: key.description,
      userId: key.user_id,
    } as const;
    const expiresAt = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at);
    return { version, verdict: { ...toGrant(key, actor, key.id, expiresAt), audience: key.audience } };
  });
}

async function findPerson(
  sql: Sql,
  sessions: SessionSource,
  hash: string,
  workspaceId: string | null,
): Promise<Finding> {
  // read first, so that a concurrent change invalidates the result
  const version = await selectIdentityVersion(sql);
  const session = await sessions.find(hash);
  const row = session && (await selectPersonGrant(sql, session.userId, workspaceId));
  if (!session || !row) return { version, verdict: "unknown" };
  const actor = { kind: "session", id: session.id, name: row.email, userId: session.userId } as const;
  const grant = toGrant(row, actor, null, session.expiresAt.getTime());
  return { version, verdict: { ...grant, askAgainAt: performance.now() + SESSION_AGE_MS } };
}
