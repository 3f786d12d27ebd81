/**
 * Feedback by a pre-signed token. The token identifies workspace, run and
 * key; the request contains the judgement. Links are clicked twice and opened by previews: a GET that repeats the same
 * parameters updates its feedback, any other request adds one.
 */
import { createHash } from "node:crypto";

import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { isUuid, uuid7 } from "../../base/ids.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import { checkConfig } from "../feedback-configs/check-config.ts";
import { type NewFeedback, upsertTokenFeedback } from "../feedback/sql.ts";
import type { Submission, SubmissionParameters } from "./schema.ts";
import { findToken, type TokenRow } from "./sql.ts";

/** Resolves a token. @throws 404 for an unknown token, 410 for an expired or revoked one */
export async function validToken({ sql }: Pick<TraceDeps, "sql">, text: string): Promise<TokenRow> {
  const token = isUuid(text) ? await findToken(sql, text) : undefined;
  if (!token) throw notFound("This feedback link is unknown.");
  if (token.state !== "valid") throw new AppError(410, `This feedback link was ${WHY[token.state]}.`);
  return token;
}

const WHY = { expired: "valid for a limited time, which is over", revoked: "withdrawn" } as const;

/**
 * Stores a judgement.
 * @param repeatable whether the same judgement again is the same feedback
 */
export async function submitFeedback(
  deps: Pick<TraceDeps, "sql" | "feedback" | "masking">,
  token: TokenRow,
  { metadata, ...judgement }: Submission,
  repeatable: boolean,
): Promise<void> {
  const { token_id, tenant_id, run_id, feedback_key: key } = token;
  if (token.feedback_config) checkConfig(token.feedback_config, { key, ...judgement });
  const row: NewFeedback = {
    ...judgement,
    tenant_id,
    feedback_id: uuid7(),
    key,
    run_id,
    session_id: null,
    trace_id: null,
    start_time: null,
    extra: null,
    source_type: "api",
    source_metadata: metadata ?? null,
    user_id: null,
    comparative_experiment_id: null,
    feedback_group_id: null,
    token_id,
    token_parameters: repeatable ? digest(judgement) : null,
    created_at: null,
    extends_retention: true,
  };
  (await deps.masking.find(tenant_id))?.feedback(row);
  await upsertTokenFeedback(deps.sql, row);
  await deps.feedback.flush();
}

function digest({ score, value, comment, correction }: Omit<Submission, "metadata">): string {
  return createHash("sha256")
    .update(JSON.stringify([score, value, comment, correction]))
    .digest("hex");
}

/**
 * Parses a judgement from URL parameters: `score` is a number, `true` or `false`; the type of `value` is inferred;
 * `correction` is JSON.
 *
 * @throws 422
 */
export function readParameters({ score, value, comment, correction }: SubmissionParameters): Submission {
  const judgement = {
    score: score === undefined || score === "" ? null : readScore(score),
    value: value === undefined ? null : readValue(value),
    comment: comment ?? null,
    correction: correction === undefined || correction === "" ? null : readCorrection(correction),
  };
  return cleanStrings(judgement) as Submission;
}

function readScore(text: string): number {
  if (/^(true|false)$/i.test(text)) return Number(/^true$/i.test(text));
  const number = NUMBER.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(number)) throw unprocessable("score: must be a number, true or false.");
  return number;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Parses numbers, booleans and objects; everything else is text. */
function readValue(text: string): Submission["value"] {
  if (!/^(-?\d|\{|true$|false$)/.test(text)) return text;
  try {
    return parseJson(text) as Submission["value"];
  } catch {
    return text;
  }
}

function readCorrection(text: string): Submission["correction"] {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    throw unprocessable("correction: must be URL-encoded JSON.");
  }
  const isObject = parsed !== null && typeof parsed === "object" && !Array.isArray(parsed);
  if (!isObject && typeof parsed !== "string") throw unprocessable("correction: must be a JSON object or string.");
  return parsed as Submission["correction"];
}
