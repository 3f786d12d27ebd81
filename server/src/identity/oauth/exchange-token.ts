import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";
import { hashKey, newKey, shortKey } from "../api-keys/key-text.ts";
import { type GrantState, lockGrant, revokeGrant, rotateGrant } from "./sql.ts";

const ACCESS_SECS = 3600;
/** A client that is not used for so long has to ask its user again. */
const REFRESH_MS = 30 * 86_400_000;

/** RFC 6749 §5.2. */
export interface OAuthFailure {
  error: "invalid_request" | "invalid_grant" | "unsupported_grant_type" | "invalid_target";
  error_description: string;
}

export interface Tokens {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token: string;
  scope: string;
}

export const newSecret = (kind: "code" | "refresh"): string => `hoa_${kind}_${randomBytes(32).toString("hex")}`;

const failure = (error: OAuthFailure["error"], error_description: string): OAuthFailure => ({
  error,
  error_description,
});
const invalid = (why: string) => failure("invalid_grant", `${why} Ask the user to authorize again.`);

/**
 * Exchanges a code or a refresh token, which thereby becomes invalid. The access token is the grant's key with a new
 * text. A code that is sent twice was copied, and so was a refresh token that is sent long after its successor was
 * issued: both revoke the grant (RFC 9700 §4.14). Within a minute, the client may have lost the answer.
 */
export async function exchangeToken(sql: Sql, form: URLSearchParams, resource: string): Promise<Tokens | OAuthFailure> {
  const type = form.get("grant_type");
  const isCode = type === "authorization_code";
  if (!isCode && type !== "refresh_token")
    return failure("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.");
  const secret = form.get(isCode ? "code" : "refresh_token");
  if (!secret) return failure("invalid_request", `${isCode ? "code" : "refresh_token"} is missing.`);
  const wanted = form.get("resource");
  if (wanted !== null && !isSameResource(wanted, resource))
    return failure("invalid_target", `Tokens of this server are for ${resource}.`);
  return sql.begin(async (tx): Promise<Tokens | OAuthFailure> => {
    const grant = await lockGrant(tx, secret);
    if (!grant) return invalid("The token is unknown.");
    const isRetry = grant.is_used && !isCode && grant.is_recent;
    if (grant.is_used && !isRetry) {
      await revokeGrant(tx, grant.key_id);
      return invalid("The token was used before, so its grant is revoked.");
    }
    const problem = !grant.is_valid ? "The authorization has expired or is revoked." : mismatch(grant, form, isCode);
    if (problem !== undefined) return invalid(problem);
    const [access, refresh] = [newKey("personal"), newSecret("refresh")];
    await rotateGrant(tx, grant.key_id, {
      secret: refresh,
      secretExpiresAt: new Date(Date.now() + REFRESH_MS),
      keyHash: hashKey(access),
      shortKey: shortKey(access),
      keyExpiresAt: new Date(Date.now() + ACCESS_SECS * 1000),
    });
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: ACCESS_SECS,
      refresh_token: refresh,
      scope: grant.read_only ? "read" : "read write",
    };
  });
}

function mismatch(grant: GrantState, form: URLSearchParams, isCode: boolean): string | undefined {
  if (form.get("client_id") !== grant.client_id) return "client_id is not that of the authorization.";
  if ((grant.code_challenge !== null) !== isCode) return "grant_type does not fit the token.";
  if (!isCode) return undefined;
  if (form.get("redirect_uri") !== grant.redirect_uri) return "redirect_uri is not that of the authorization.";
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  const isProven = timingSafeEqual(Buffer.from(challenge), Buffer.from(grant.code_challenge!));
  return isProven ? undefined : "code_verifier does not fit the code_challenge.";
}

export const isSameResource = (wanted: string, resource: string): boolean =>
  URL.canParse(wanted) && new URL(wanted).href.replace(/\/$/, "") === new URL(resource).href.replace(/\/$/, "");
