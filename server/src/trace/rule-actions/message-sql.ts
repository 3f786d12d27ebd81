import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { WebhookTables } from "../../base/webhooks/sql.ts";

export const RULE_MESSAGES: WebhookTables = {
  deliveries: "rule_deliveries",
  attempts: "rule_delivery_attempts",
  receivers: "rule_receivers",
};

export type MessageKind = "webhook" | "pagerduty";

export interface NewMessage {
  delivery_id: string;
  match_id: string;
  kind: MessageKind;
  place: number;
  url: string;
  receiver: string;
}

/** Enqueues messages, in the transaction that ends their matches. */
export async function insertMessages(
  tx: Transaction,
  { tenant_id, rule_id }: { tenant_id: string; rule_id: string },
  messages: readonly NewMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  await tx`
    insert into rule_deliveries (delivery_id, tenant_id, rule_id, match_id, kind, place, url, receiver)
    select delivery_id, ${tenant_id}::uuid, ${rule_id}::uuid, match_id, kind, place, url, receiver
    from jsonb_to_recordset(${JSON.stringify(messages)}::text::jsonb)
      as n (delivery_id uuid, match_id uuid, kind text, place integer, url text, receiver text)
    on conflict do nothing`;
}

/** What a message is about. Times are ISO text. */
export interface MessageRow {
  tenant_id: string;
  rule_id: string;
  match_id: string;
  kind: MessageKind;
  place: number;
  url: string;
  run_id: string;
  project_id: string;
  trace_id: string;
  /** As in ClickHouse. */
  start_time: string;
  thread_id: string | null;
  run_name: string | null;
  matched_at: string;
  acted_at: string;
}

/** @returns undefined when the message, its match or its rule has been deleted */
export async function findMessage(sql: Sql, deliveryId: string): Promise<MessageRow | undefined> {
  const [row] = await sql<MessageRow[]>`
    select d.tenant_id, d.rule_id, d.match_id, d.kind, d.place, d.url, m.run_id, m.project_id, m.trace_id, m.thread_id,
      m.run_name, to_char(m.start_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as start_time,
      ${sql.unsafe(utcText("m.matched_at"))} as matched_at, ${sql.unsafe(utcText("d.created_at"))} as acted_at
    from rule_deliveries d join rule_matches m using (match_id)
    where d.delivery_id = ${deliveryId}`;
  return row;
}

/** Delivery of a message as the log shows it. */
export interface DeliveryState {
  delivery_id: string;
  match_id: string;
  kind: MessageKind;
  place: number;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  error: string | null;
}

/** Returns the messages of matches with the result of their last attempt. */
export const findDeliveries = (sql: Sql, tenantId: string, matchIds: string[]): Promise<DeliveryState[]> =>
  sql<DeliveryState[]>`
    select d.delivery_id, d.match_id, d.kind, d.place, d.status, d.attempts,
      coalesce(a.error, 'The receiver responded with status ' || a.status_code || '.') as error
    from rule_deliveries d
    left join lateral (
      select error, status_code from rule_delivery_attempts a where a.delivery_id = d.delivery_id
        and (a.status_code is null or a.status_code not between 200 and 299)
      order by attempt desc limit 1) a on d.status <> 'delivered'
    where d.tenant_id = ${tenantId} and d.match_id = any(${matchIds}::uuid[])
    order by d.match_id, d.kind, d.place`;
