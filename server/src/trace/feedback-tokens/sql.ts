import type { Sql } from "../../base/db/connect.ts";
import type { FeedbackConfig } from "../feedback-configs/schema.ts";

export interface NewToken {
  token_id: string;
  tenant_id: string;
  run_id: string;
  feedback_key: string;
  feedback_config: FeedbackConfig | null;
  /** ISO text. */
  expires_at: string;
}

export interface TokenRow {
  token_id: string;
  tenant_id: string;
  run_id: string;
  feedback_key: string;
  feedback_config: FeedbackConfig | null;
  /** ISO text, with microseconds. */
  expires_at: string;
  state: "valid" | "expired" | "revoked";
}

const ROW = `token_id, tenant_id, run_id, feedback_key, feedback_config,
  to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as expires_at,
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'valid' end as state`;

/** @returns the stored rows, in the given order */
export async function insertTokens(sql: Sql, tokens: NewToken[]): Promise<TokenRow[]> {
  const rows = await sql<TokenRow[]>`
    insert into feedback_tokens (token_id, tenant_id, run_id, feedback_key, feedback_config, expires_at)
    select token_id, tenant_id, run_id, feedback_key, nullif(feedback_config, 'null'), expires_at
    from jsonb_to_recordset(${JSON.stringify(tokens)}::text::jsonb) as new (token_id uuid, tenant_id uuid, run_id uuid,
      feedback_key text, feedback_config jsonb, expires_at timestamptz)
    returning ${sql.unsafe(ROW)}`;
  const byId = new Map(rows.map((row) => [row.token_id, row]));
  return tokens.map((token) => byId.get(token.token_id)!);
}

/** Finds a token of any workspace: the token itself is the credential. */
export async function findToken(sql: Sql, tokenId: string): Promise<TokenRow | undefined> {
  const [row] = await sql<TokenRow[]>`select ${sql.unsafe(ROW)} from feedback_tokens where token_id = ${tokenId}`;
  return row;
}

/** Lists all tokens of a run, oldest first, including those that are no longer valid. */
export async function listTokens(
  sql: Sql,
  tenantId: string,
  runId: string,
  page: { limit: number; offset: number },
): Promise<TokenRow[]> {
  return sql<TokenRow[]>`
    select ${sql.unsafe(ROW)} from feedback_tokens where tenant_id = ${tenantId} and run_id = ${runId}
    order by created_at, feedback_key, token_id limit ${page.limit} offset ${page.offset}`;
}

/** @returns false when the workspace has no such token; revoking twice succeeds */
export async function revokeToken(sql: Sql, tenantId: string, tokenId: string): Promise<boolean> {
  const rows = await sql`
    update feedback_tokens set revoked_at = coalesce(revoked_at, now())
    where tenant_id = ${tenantId} and token_id = ${tokenId} returning 1`;
  return rows.length > 0;
}

/** Deletes at most `limit` tokens that expired more than `olderThanDays` ago. @returns the count */
export async function deleteOldTokens(sql: Sql, olderThanDays: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from feedback_tokens where token_id in (
      select token_id from feedback_tokens where expires_at < now() - make_interval(days => ${olderThanDays})
      limit ${limit})
    returning 1`;
  return deleted.length;
}
