import type { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import type { ruleLog } from "./log-schema.ts";
import type { LogPosition, LogRow } from "./log-sql.ts";
import { findDeliveries } from "./message-sql.ts";

type RuleLog = z.output<typeof ruleLog>;

const ACTIONS = [
  "add_to_annotation_queue",
  "add_to_dataset",
  "evaluators",
  "alerts",
  "webhooks",
  "extend_only",
  "tags",
  "feedback",
  "alignment_queue",
] as const;

/** Serializes decisions with the state of their messages. */
export async function serializeLog(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  rows: readonly LogRow[],
): Promise<RuleLog[]> {
  const withMessages = rows.filter(({ outcomes }) => outcomes["webhooks"] ?? outcomes["alerts"]);
  const deliveries =
    withMessages.length === 0
      ? []
      : await findDeliveries(
          sql,
          tenantId,
          withMessages.map((row) => row.match_id),
        );
  return rows.map(({ outcomes, ...row }) => {
    const own = deliveries.flatMap(({ match_id, ...state }) => (match_id === row.match_id ? [state] : []));
    const actions = Object.fromEntries(
      ACTIONS.map((name) => [name, outcomes[name] ? { ...outcomes[name] } : null]),
    ) as Pick<RuleLog, (typeof ACTIONS)[number]>;
    return { ...row, ...actions, deliveries: own };
  });
}

export const encodePosition = ({ matched_at, match_id }: LogPosition): string =>
  Buffer.from(JSON.stringify([matched_at, match_id])).toString("base64url");

/** @throws 400 for a text that encodePosition did not produce */
export function readPosition(text: string | undefined): LogPosition | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const [matched_at, match_id] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, string];
    const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/.test(matched_at);
    if (isTime && Number.isFinite(Date.parse(matched_at)) && isUuid(match_id)) return { matched_at, match_id };
  } catch {
    // falls through
  }
  throw new AppError(400, "Invalid cursor: it must come from an earlier response to the same query");
}
