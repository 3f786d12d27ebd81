import { randomUUID } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";
import { unprocessable } from "../../base/errors.ts";
import { normalizeConfig } from "../feedback-configs/check-config.ts";
import type { FeedbackConfig } from "../feedback-configs/schema.ts";
import type { TokenRequest } from "./schema.ts";
import { insertTokens, type TokenRow } from "./sql.ts";

/** Token as returned to the issuer. Anyone with the `url` may submit feedback. */
export interface FeedbackToken {
  id: string;
  url: string;
  expires_at: string;
  feedback_key: string;
}

export interface TokenIssue {
  run_id: string;
  feedback_key: string;
  feedback_config?: FeedbackConfig | null | undefined;
  expires_at: Date;
}

/** Lifetime that the SDKs request by default. */
const DEFAULT_TOKEN_HOURS = 3;

/**
 * Issues pre-signed feedback tokens, one per issue and in that order. The runs need not have arrived.
 *
 * @param publicUrl public URL of the trace platform, without a path: `https://traces.example`
 */
export async function issueFeedbackTokens(
  sql: Sql,
  publicUrl: string,
  tenantId: string,
  issues: TokenIssue[],
): Promise<FeedbackToken[]> {
  const rows = await insertTokens(
    sql,
    issues.map((issue) => ({
      // randomUUID is a version 4 UUID from the system's random source: 122 unguessable bits
      token_id: randomUUID(),
      tenant_id: tenantId,
      run_id: issue.run_id,
      feedback_key: issue.feedback_key,
      feedback_config: issue.feedback_config ? normalizeConfig(issue.feedback_config) : null,
      expires_at: issue.expires_at.toISOString(),
    })),
  );
  return rows.map((row) => tokenOnWire(publicUrl, row));
}

export const tokenOnWire = (publicUrl: string, row: TokenRow): FeedbackToken => ({
  id: row.token_id,
  url: `${publicUrl.replace(/\/$/, "")}/api/v1/feedback/tokens/${row.token_id}`,
  expires_at: row.expires_at,
  feedback_key: row.feedback_key,
});

/**
 * Returns the expiry. `expires_at` takes precedence over `expires_in`; the default is three hours. @throws 422 for a
 * time in the past
 */
export function parseExpiry({ expires_at, expires_in }: TokenRequest, now = Date.now()): Date {
  if (expires_at) {
    const at = new Date(expires_at);
    if (!(at.getTime() > now)) throw unprocessable("expires_at: must be in the future.");
    return at;
  }
  if (!expires_in) return new Date(now + DEFAULT_TOKEN_HOURS * 3_600_000);
  const { days, hours, minutes } = expires_in;
  const total = ((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0);
  if (total <= 0) throw unprocessable("expires_in: must be greater than zero.");
  return new Date(now + total * 60_000);
}
