import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { WebhookSender, type ComposedMessage, type WebhookSenderOptions } from "../../base/webhooks/webhook-sender.ts";
import { findProject } from "../projects/sql.ts";
import { RULES } from "../prompt-webhooks/prompt-webhooks.ts";
import { composeBody, composeMail, type MessageSubject } from "./compose-message.ts";
import { ALERT_MESSAGES, findAlertMessage, MAIL } from "./message-sql.ts";
import { type Channel, joinChannel, readChannelSecrets } from "./secrets.ts";
import { type MailSettings, sendMail } from "./send-mail.ts";
import { type AlertRule, findAlertRule } from "./sql.ts";

export interface AlertMessagesOptions {
  sql: Sql;
  log: Log;
  settings: WebhookSenderOptions["settings"] & MailSettings & { consoleUrl: string; pagerdutyUrl: string };
  outbound: Outbound;
  secrets: Secrets;
  fault: FaultPoint;
}

/** Sender of the messages of alerts, by all channels. */
export const createAlertMessages = (options: AlertMessagesOptions): WebhookSender =>
  new WebhookSender({
    ...options,
    tables: ALERT_MESSAGES,
    rules: () => RULES,
    async compose(deliveryId): Promise<ComposedMessage | undefined> {
      const { sql, secrets, settings } = options;
      const message = await findAlertMessage(sql, deliveryId);
      const rule = message && (await findAlertRule(sql, message.tenant_id, message.rule_id));
      if (!rule) return undefined;
      const action = rule.actions.find(({ id }) => id === message.action_id);
      if (!action) return { body: "", headers: {}, post: () => Promise.resolve(REMOVED) };
      const channel = joinChannel(action, (await readChannelSecrets(secrets, rule.rule_id))[action.id]);
      if (channel.target === "email") {
        const to = channel.config.to.filter((address) => message.url === MAIL || message.url === MAIL + address);
        if (to.length === 0) return { body: "", headers: {}, post: () => Promise.resolve(REMOVED) };
        channel.config = { to };
      }
      const subject = await describeSubject(sql, settings.consoleUrl, rule, message);
      return composeFor(options, channel, subject, deliveryId);
    },
    postSelf: () => null,
  });

const REMOVED = { statusCode: null, error: "The channel was removed from the rule.", blocked: true, retryAfterMs: 0 };

/** Composes a message for a channel; an e-mail brings its own way. */
export function composeFor(
  { settings, outbound }: Pick<AlertMessagesOptions, "settings" | "outbound">,
  channel: Channel,
  subject: MessageSubject,
  deliveryId: string,
): ComposedMessage {
  if (channel.target === "email") {
    const { to } = channel.config;
    const post = () => sendMail({ outbound, settings }, deliveryId, to, composeMail(subject));
    return { body: "", headers: {}, post };
  }
  const isPagerduty = channel.target === "pagerduty";
  const body = composeBody(subject, channel.target, isPagerduty ? channel.config.routing_key : "");
  return {
    url: isPagerduty ? settings.pagerdutyUrl : channel.config.url,
    headers: (channel.target === "webhook" && channel.config.headers) || {},
    body: JSON.stringify(body),
  };
}

export async function describeSubject(
  sql: Sql,
  consoleUrl: string,
  rule: MessageSubject["rule"] & { budget?: AlertRule["budget"] },
  message: MessageSubject["message"],
): Promise<MessageSubject> {
  const project = rule.project_id === null ? undefined : await findProject(sql, rule.tenant_id, rule.project_id);
  const page = rule.budget ? "budgets" : "alerts";
  const link = /^https?:/.test(consoleUrl) ? `${consoleUrl.replace(/\/$/, "")}/${page}/${rule.rule_id}` : null;
  return { rule, message, session_name: project?.name ?? null, link };
}
