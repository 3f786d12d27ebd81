import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface GrantState {
  key_id: string;
  client_id: string;
  redirect_uri: string;
  code_challenge: string | null;
  read_only: boolean;
  /** Neither expired nor revoked, and the user may still sign in. */
  is_valid: boolean;
  /** The given secret was replaced by a later one. */
  is_used: boolean;
  /** Replaced so recently that the client may not have received its successor. */
  is_recent: boolean;
}

/** Binds a new key to a resource, for the exchange of a code. Removes grants whose codes were not exchanged. */
export async function insertGrant(
  tx: Transaction,
  grant: {
    key_id: string;
    audience: string;
    client_id: string;
    redirect_uri: string;
    code_challenge: string;
    secret: string;
    expires_at: Date;
  },
): Promise<void> {
  await tx`delete from api_keys k using oauth_grants g
    where g.key_id = k.id and g.code_challenge is not null and g.expires_at < now() - interval '1 hour'`;
  await tx`update api_keys set audience = ${grant.audience} where id = ${grant.key_id}`;
  await tx`
    insert into oauth_grants (key_id, client_id, redirect_uri, code_challenge, secret_hash, expires_at)
    values (${grant.key_id}, ${grant.client_id}, ${grant.redirect_uri}, ${grant.code_challenge},
      sha256(${grant.secret}::text::bytea), ${grant.expires_at})`;
}

/** Locks the grant with this code or refresh token, or with one that it replaced. */
export async function lockGrant(tx: Transaction, secret: string): Promise<GrantState | undefined> {
  const [row] = await tx<GrantState[]>`
    select g.key_id, g.client_id, g.redirect_uri, g.code_challenge, k.read_only,
      g.expires_at > now() and k.revoked_at is null and u.disabled_at is null as is_valid,
      g.secret_hash <> sha256(${secret}::text::bytea) as is_used,
      coalesce(g.used_at > now() - interval '1 minute', false) as is_recent
    from oauth_grants g join api_keys k on k.id = g.key_id join users u on u.id = k.user_id
    where g.secret_hash = sha256(${secret}::text::bytea) or g.used_hash = sha256(${secret}::text::bytea)
    for update of g, k`;
  return row;
}

/** Replaces both tokens of a grant. */
export async function rotateGrant(
  tx: Transaction,
  keyId: string,
  next: { secret: string; secretExpiresAt: Date; keyHash: string; shortKey: string; keyExpiresAt: Date },
): Promise<void> {
  await tx`
    update oauth_grants set used_hash = secret_hash, used_at = now(), code_challenge = null,
      secret_hash = sha256(${next.secret}::text::bytea), expires_at = ${next.secretExpiresAt}
    where key_id = ${keyId}`;
  await tx`
    update api_keys set key_hash = decode(${next.keyHash}, 'hex'), short_key = ${next.shortKey},
      expires_at = ${next.keyExpiresAt} where id = ${keyId}`;
}

export async function revokeGrant(sql: Sql | Transaction, keyId: string): Promise<void> {
  await sql`update api_keys set revoked_at = now() where id = ${keyId} and revoked_at is null`;
}

/** Revokes the grant of an access or refresh token of the client. */
export async function revokeToken(sql: Sql, token: string): Promise<void> {
  await sql`
    update api_keys set revoked_at = now() where revoked_at is null and id in (
      select g.key_id from oauth_grants g join api_keys k on k.id = g.key_id
      where g.secret_hash = sha256(${token}::text::bytea) or k.key_hash = sha256(${token}::text::bytea))`;
}
