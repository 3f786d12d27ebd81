import type { Transaction } from "../../base/db/connect.ts";
import { uuid5 } from "../../base/ids.ts";
import { receiverOrigin } from "../../base/webhooks/receiver-origin.ts";
import { type ActionContext, type Item, MATCH_NAMESPACE, success } from "./action-context.ts";
import type { Outcomes } from "./match-sql.ts";
import { insertMessages, type MessageKind, type NewMessage } from "./message-sql.ts";

/**
 * Enqueues the webhooks and alerts of ended matches, whose ids follow from the matches, so that a receiver sees each
 * event once or recognizes its repetition.
 * @returns the outcomes by match
 */
export async function enqueueMessages(
  tx: Transaction,
  { deps, rule, batch }: ActionContext,
  items: readonly Item[],
): Promise<Map<string, Outcomes>> {
  const { webhooks, alerts } = rule.actions;
  const targets: { kind: MessageKind; place: number; url: string }[] = [
    ...(webhooks ?? []).map(({ url }, place) => ({ kind: "webhook" as const, place, url })),
    ...(alerts ?? []).map((_, place) => ({ kind: "pagerduty" as const, place, url: deps.settings.pagerdutyUrl })),
  ];
  const outcomes = new Map<string, Outcomes>();
  const messages: NewMessage[] = [];
  for (const { match } of items) {
    const { match_id } = match;
    const own: Outcomes = {};
    const pending = targets.filter(({ kind }) => !match.outcomes[nameOf(kind)]);
    for (const { kind, place, url } of pending) {
      const delivery_id = uuid5(`${kind} ${match_id} ${place}`, MATCH_NAMESPACE);
      messages.push({ delivery_id, match_id, kind, place, url, receiver: receiverOrigin(url) });
      const known = (own[nameOf(kind)]?.payload?.["delivery_ids"] ?? []) as string[];
      own[nameOf(kind)] = success({ delivery_ids: [...known, delivery_id] });
    }
    outcomes.set(match_id, own);
  }
  await insertMessages(tx, batch, messages);
  return outcomes;
}

const nameOf = (kind: MessageKind): "webhooks" | "alerts" => (kind === "webhook" ? "webhooks" : "alerts");
