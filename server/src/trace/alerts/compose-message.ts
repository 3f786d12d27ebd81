/**
 * Composes messages in the formats of the channels: Heddle's own JSON, Slack's blocks, an adaptive card as Teams'
 * workflows take it, events of PagerDuty's Events API v2, and e-mail. Pure.
 */
import { describeIncident, describeMetric, type Fact, formatValue } from "./describe.ts";
import type { AlertMessage } from "./message-sql.ts";
import type { AlertRule, Target } from "./sql.ts";

export interface MessageSubject {
  rule: Pick<AlertRule, "rule_id" | "name" | "definition" | "project_id" | "tenant_id">;
  message: Omit<AlertMessage, "action_id" | "url" | "event"> & { event: AlertMessage["event"] | "test" };
  session_name: string | null;
  /** Page of the rule; null without a public console. */
  link: string | null;
}

export interface Mail {
  subject: string;
  text: string;
}

const TITLES = { firing: "Firing", resolved: "Resolved", test: "Test" } as const;
const MAX_TEXT = 1000;

const cut = (text: string, length = MAX_TEXT) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

const titleOf = ({ rule, message }: MessageSubject) => cut(`${TITLES[message.event]}: ${rule.name}`, 200);

function summaryOf({ rule: { definition }, message }: MessageSubject): string {
  const value = formatValue(definition, message.event === "resolved" ? message.last_value : message.value);
  const metric = message.level === "forecast" ? "forecast of the cost" : describeMetric(definition);
  return `${metric}: ${value} (${describeIncident(definition, message)})`;
}

function factsOf({ rule, message, session_name }: MessageSubject): Fact[] {
  const { definition } = rule;
  const group = definition.group_by;
  const facts: [string, string | null][] = [
    ["Metric", describeMetric(definition)],
    ["Value", formatValue(definition, message.value)],
    ["Condition", describeIncident(definition, message)],
    [group?.path ?? group?.attribute ?? "Group", group === null ? null : message.group_name],
    ["Project", rule.project_id === null ? "all projects" : (session_name ?? rule.project_id)],
    ["Severity", message.severity],
    ["Filter", definition.filter],
    ["Since", message.began_at],
    ["Resolved", message.resolved_at && `${message.resolved_at} (${message.reason?.replace("_", " ")})`],
  ];
  return facts.flatMap(([title, value]) => (value === null ? [] : [{ title, value: cut(value, 300) }]));
}

/** Composes the body of a message by HTTP. */
export function composeBody(subject: MessageSubject, target: Exclude<Target, "email">, routingKey: string): unknown {
  switch (target) {
    case "webhook":
      return composeWebhook(subject);
    case "slack":
      return composeSlack(subject);
    case "teams":
      return composeTeams(subject);
    case "pagerduty":
      return composePagerduty(subject, routingKey);
  }
}

function composeWebhook(subject: MessageSubject): unknown {
  const { rule, message, session_name, link } = subject;
  const { event, ...incident } = message;
  return {
    event: `alert.${event}`,
    incident_id: incident.incident_id,
    tenant_id: rule.tenant_id,
    title: titleOf(subject),
    summary: summaryOf(subject),
    severity: incident.severity,
    group: rule.definition.group_by === null ? null : incident.group_name,
    value: incident.value,
    worst_value: incident.worst,
    last_value: incident.last_value,
    threshold: incident.threshold,
    began_at: incident.began_at,
    fired_at: incident.fired_at,
    resolved_at: incident.resolved_at,
    reason: incident.reason,
    ...(incident.period !== null && { period: incident.period, level: incident.level }),
    rule: { id: rule.rule_id, name: rule.name, session_id: rule.project_id, session_name, ...rule.definition },
    url: link,
  };
}

/** Slack's escapes of text; without others it renders nothing of a caller's names. */
const escapeSlack = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function composeSlack(subject: MessageSubject): unknown {
  const { link } = subject;
  const plain = (text: string) => ({ type: "plain_text", text: cut(text, 150), emoji: false });
  const fields = factsOf(subject)
    .slice(0, 10)
    .map(({ title, value }) => ({ type: "mrkdwn", text: `*${escapeSlack(title)}*\n${escapeSlack(value)}` }));
  return {
    text: `${escapeSlack(titleOf(subject))} – ${escapeSlack(summaryOf(subject))}`,
    blocks: [
      { type: "header", text: plain(titleOf(subject)) },
      { type: "section", text: { type: "mrkdwn", text: escapeSlack(summaryOf(subject)) } },
      { type: "section", fields },
      ...(link === null
        ? []
        : [{ type: "actions", elements: [{ type: "button", text: plain("Open in Heddle"), url: link }] }]),
    ],
  };
}

/** Names of groups come from traces; in a card, Markdown would make them links. */
const withoutLinks = (text: string) => text.replaceAll("](", "]\u200B(");

function composeTeams(subject: MessageSubject): unknown {
  const { link, message } = subject;
  const color = message.event === "resolved" ? "Good" : message.severity === "info" ? "Accent" : "Attention";
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.5",
          msteams: { width: "Full" },
          body: [
            {
              type: "TextBlock",
              text: withoutLinks(titleOf(subject)),
              size: "Large",
              weight: "Bolder",
              wrap: true,
              color,
            },
            { type: "TextBlock", text: withoutLinks(summaryOf(subject)), wrap: true },
            {
              type: "FactSet",
              facts: factsOf(subject).map(({ title, value }) => ({ title, value: withoutLinks(value) })),
            },
          ],
          ...(link !== null && { actions: [{ type: "Action.OpenUrl", title: "Open in Heddle", url: link }] }),
        },
      },
    ],
  };
}

function composePagerduty(subject: MessageSubject, routingKey: string): unknown {
  const { rule, message, link } = subject;
  const event = {
    routing_key: routingKey,
    event_action: message.event === "resolved" ? "resolve" : "trigger",
    dedup_key: message.incident_id,
  };
  if (message.event === "resolved") return event;
  return {
    ...event,
    client: "Heddle",
    ...(link !== null && { client_url: link, links: [{ href: link, text: "Alert in Heddle" }] }),
    payload: {
      summary: cut(`${titleOf(subject)} – ${summaryOf(subject)}`, 1024),
      source: `heddle/${rule.project_id ?? rule.tenant_id}`,
      severity: message.severity,
      timestamp: message.fired_at,
      ...(rule.definition.group_by !== null && { component: message.group_name }),
      group: rule.name,
      class: describeMetric(rule.definition),
      custom_details: Object.fromEntries(factsOf(subject).map(({ title, value }) => [title, value])),
    },
  };
}

export function composeMail(subject: MessageSubject): Mail {
  const { link } = subject;
  const facts = factsOf(subject).map(({ title, value }) => `${title}: ${value}`);
  const lines = [summaryOf(subject), "", ...facts, ...(link === null ? [] : ["", link])];
  return {
    // a line break would end the header
    subject: titleOf(subject).replace(/\s+/g, " "),
    text: `${lines.join("\n")}\n`,
  };
}
