import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { uuid5 } from "../../base/ids.ts";
import { receiverOrigin } from "../../base/webhooks/receiver-origin.ts";
import type { WebhookTables } from "../../base/webhooks/sql.ts";
import { MASK } from "./secrets.ts";
import type { AlertAction, AlertRule, Severity } from "./sql.ts";

export const ALERT_MESSAGES: WebhookTables = {
  deliveries: "alert_deliveries",
  attempts: "alert_delivery_attempts",
  receivers: "alert_receivers",
};

export type AlertEvent = "firing" | "resolved";

const NAMESPACE = "6d1f2f9f-0d0a-5b0e-9a77-5a3a3c1f3b9e";
/** Scheme of messages that are not sent by HTTP. */
export const MAIL = "mailto:";

/**
 * Enqueues the messages of an event of incidents, in the transaction that changes their state. Their ids follow from
 * incident, event and channel. A resolution waits until the message of the firing has been delivered or given up.
 */
export async function enqueueMessages(
  tx: Transaction,
  rule: Pick<AlertRule, "rule_id" | "tenant_id" | "actions" | "budget">,
  event: AlertEvent,
  incidents: readonly string[],
  pagerdutyUrl: string,
): Promise<void> {
  // people need no word of each notice of a budget when its month ends
  const isQuiet = event === "resolved" && rule.budget !== null;
  const actions = rule.actions.filter(
    ({ target, removed }) => !removed && (!isQuiet || target === "pagerduty" || target === "webhook"),
  );
  const receivers = actions.flatMap((action) => shownUrls(action, pagerdutyUrl).map((url) => ({ action, url })));
  const messages = incidents.flatMap((incident_id) =>
    receivers.map(({ action, url }) => {
      // each recipient of an e-mail has its own answer and retries
      const recipient = url.startsWith(MAIL) ? `/${url}` : "";
      return {
        delivery_id: uuid5(`${incident_id}/${event}/${action.id}${recipient}`, NAMESPACE),
        incident_id,
        action_id: action.id,
        target: action.target,
        url,
        // per workspace: what one has sent too much of, or to unknown recipients, must not delay another's
        receiver: `${url.startsWith(MAIL) ? "smtp" : receiverOrigin(url)} ${rule.tenant_id}`,
      };
    }),
  );
  if (messages.length === 0) return;
  // a firing that ends meanwhile releases the resolution when this transaction has ended
  await tx`
    select 1 from alert_deliveries
    where incident_id = any(${incidents as string[]}::uuid[]) and event = 'firing' and status = 'pending'
    order by delivery_id for update`;
  await tx`
    insert into alert_deliveries (delivery_id, tenant_id, rule_id, incident_id, event, action_id, target, url, receiver,
      available_at)
    select delivery_id, ${rule.tenant_id}::uuid, ${rule.rule_id}::uuid, incident_id, ${event}, action_id, target, url,
      receiver, case when ${event} = 'resolved' and exists (
        select 1 from alert_deliveries f where f.incident_id = n.incident_id and f.action_id = n.action_id
          and f.url in (n.url, ${MAIL}) and f.event = 'firing' and f.status = 'pending') then 'infinity' else now() end
    from jsonb_to_recordset(${JSON.stringify(messages)}::text::jsonb)
      as n (delivery_id uuid, incident_id uuid, action_id uuid, target text, url text, receiver text)
    on conflict do nothing`;
}

/** URLs without secrets. */
function shownUrls({ target, config }: AlertAction, pagerdutyUrl: string): string[] {
  if (target === "email") return [...new Set(config["to"] as string[])].map((to) => MAIL + to);
  if (target === "pagerduty") return [pagerdutyUrl];
  return [String(config["url"]).replace(`/${MASK}`, "")];
}

/** What a message is about. Times are ISO text. */
export interface AlertMessage {
  event: AlertEvent;
  action_id: string;
  /** Without what is secret of it. */
  url: string;
  tenant_id: string;
  incident_id: string;
  group_name: string;
  severity: Severity;
  began_at: string;
  fired_at: string;
  resolved_at: string | null;
  value: number | null;
  worst: number | null;
  last_value: number | null;
  threshold: number | null;
  reason: string | null;
  rule_id: string;
  /** Of a budget: its month, and the threshold in percent, or `forecast`. */
  period: string | null;
  level: string | null;
}

const time = (column: string) => `${utcText(column)} as ${column.slice(2)}`;

/** @returns undefined when the message or its rule has been deleted */
export async function findAlertMessage(sql: Sql, deliveryId: string): Promise<AlertMessage | undefined> {
  const [row] = await sql<AlertMessage[]>`
    select d.event, d.action_id, d.url, d.tenant_id, d.rule_id, i.incident_id, i.group_name, i.severity,
      ${sql.unsafe([time("i.began_at"), time("i.fired_at")].join(", "))},
      ${sql.unsafe(utcText("case when d.event = 'resolved' then coalesce(i.resolved_at, d.created_at) end"))} as resolved_at,
      i.value, i.worst, i.last_value, i.threshold, i.period, i.level,
      case when d.event = 'resolved' then coalesce(i.reason, 'channel_removed') end as reason
    from alert_deliveries d join alert_incidents i using (incident_id) where d.delivery_id = ${deliveryId}`;
  return row;
}

export interface ListedIncident extends Omit<AlertMessage, "event" | "action_id" | "url"> {
  rule_name: string;
  status: AlertEvent;
  told_at: string | null;
  deliveries: {
    id: string;
    action_id: string;
    target: string;
    recipient: string | null;
    event: AlertEvent;
    status: string;
    attempts: number;
    error: string | null;
    finished_at: string | null;
  }[];
}

/** Lists incidents, the last fired first, with their deliveries. `before`: the incident that the page comes after. */
export const listIncidents = (
  sql: Sql,
  tenantId: string,
  {
    rule,
    status,
    before,
    limit,
    withPlatform,
  }: { rule?: string; status?: AlertEvent; before?: string; limit: number; withPlatform: boolean },
): Promise<ListedIncident[]> => sql<ListedIncident[]>`
  select i.incident_id, i.tenant_id, i.rule_id, r.name as rule_name, i.group_name, i.status, i.severity,
    ${sql.unsafe([time("i.began_at"), time("i.fired_at"), time("i.resolved_at"), time("i.told_at")].join(", "))},
    i.value, i.worst, i.last_value, i.threshold, i.reason, i.period, i.level,
    coalesce((select json_agg(json_build_object('id', d.delivery_id, 'action_id', d.action_id, 'target', d.target,
        'recipient', case when d.url like 'mailto:_%' then substr(d.url, 8) end, 'event', d.event, 'status', d.status, 'attempts', d.attempts,
        'error', case when d.status <> 'delivered' then coalesce(a.error,
          'The receiver responded with status ' || a.status_code || '.') end,
        'finished_at', ${sql.unsafe(utcText("d.finished_at"))}) order by d.created_at, d.event, d.action_id)
      from alert_deliveries d
      left join lateral (select error, status_code from alert_delivery_attempts a where a.delivery_id = d.delivery_id
        order by attempt desc limit 1) a on true
      where d.incident_id = i.incident_id), '[]') as deliveries
  from alert_incidents i join alert_rules r using (rule_id)
  where i.tenant_id = ${tenantId} and ${rule === undefined ? sql`true` : sql`i.rule_id = ${rule}`}
    and ${withPlatform ? sql`true` : sql`r.definition ->> 'attribute' not like 'platform.%'`}
    and ${status === undefined ? sql`true` : sql`i.status = ${status}`}
    and ${
      before === undefined
        ? sql`true`
        : sql`(i.fired_at, i.incident_id) < (select b.fired_at, b.incident_id from alert_incidents b
            where b.tenant_id = ${tenantId} and b.incident_id = ${before})`
    }
  order by i.fired_at desc, i.incident_id desc limit ${limit}`;

/** Ids of the firing incidents whose firing was told. */
export async function selectToldIncidents(tx: Transaction, ruleId: string): Promise<string[]> {
  const rows = await tx<{ incident_id: string }[]>`
    select incident_id from alert_incidents
    where rule_id = ${ruleId} and status = 'firing' and told_at is not null`;
  return rows.map(({ incident_id }) => incident_id);
}

/** Ids of the channels with waiting messages. */
export async function selectWaitingChannels(tx: Transaction, ruleId: string): Promise<Set<string>> {
  const rows = await tx<{ action_id: string }[]>`
    select distinct action_id from alert_deliveries where rule_id = ${ruleId} and status = 'pending'`;
  return new Set(rows.map(({ action_id }) => action_id));
}
