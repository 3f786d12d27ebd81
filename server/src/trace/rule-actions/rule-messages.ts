import { unprocessable } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import type { Sql } from "../../base/db/connect.ts";
import { type ComposedMessage, WebhookSender, type WebhookSenderOptions } from "../../base/webhooks/webhook-sender.ts";
import type { TraceDeps } from "../deps.ts";
import { feedbackStats } from "../feedback/stats.ts";
import { RULES } from "../prompt-webhooks/prompt-webhooks.ts";
import { readRuleSecrets, type RuleSecrets } from "../rules/rule-secrets.ts";
import { findRule, type Rule } from "../rules/sql.ts";
import { lookUp } from "../runs/related.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { readRuns } from "../runs/select-page.ts";
import { planV1, WITHOUT_STATS } from "../runs/serialize-v1.ts";
import { contextOf } from "../runs/serialization-context.ts";
import { findMessage, type MessageRow, RULE_MESSAGES } from "./message-sql.ts";

export interface RuleMessagesOptions {
  sql: Sql;
  log: Log;
  settings: WebhookSenderOptions["settings"];
  outbound: Outbound;
  secrets: Secrets;
  fault: FaultPoint;
  /** Further dependencies, once they are built. */
  deps: () => TraceDeps;
}

/** Sender of the webhooks and alerts of rules. */
export const createRuleMessages = ({ deps, ...options }: RuleMessagesOptions): WebhookSender =>
  new WebhookSender({
    ...options,
    tables: RULE_MESSAGES,
    rules: () => RULES,
    async compose(deliveryId): Promise<ComposedMessage | undefined> {
      const message = await findMessage(options.sql, deliveryId);
      const rule = message && (await findRule(options.sql, message.tenant_id, message.rule_id));
      if (!rule) return undefined;
      const secrets = await readRuleSecrets(options.secrets, rule.rule_id);
      if (message.kind === "pagerduty") {
        const key = secrets.alerts[message.place];
        const alert = rule.actions.alerts?.[message.place];
        if (key === undefined || !alert) throw unprocessable("The rule has this alert no more.");
        return { body: JSON.stringify(composeAlert(deps(), rule, alert, key, message)), headers: {} };
      }
      // the rule's webhooks may have changed since: headers are for the URL that they were stored with
      if (!rule.actions.webhooks?.some(({ url }) => url === message.url)) {
        throw unprocessable("The rule has this webhook no more.");
      }
      return { body: await composeWebhook(deps(), rule, message), headers: headersOf(secrets, message) };
    },
    postSelf: () => null,
  });

/** Headers of a message: those of the webhook at its place, else of another one with its URL. */
function headersOf({ webhooks }: RuleSecrets, { url, place }: MessageRow): Record<string, string> {
  const own = webhooks[place]?.url === url ? webhooks[place] : webhooks.find((webhook) => webhook.url === url);
  return own?.headers ?? {};
}

type Alert = NonNullable<Rule["actions"]["alerts"]>[number];

/** Contract: PagerDuty's Events API v2. The same match is the same incident. */
function composeAlert({ settings }: TraceDeps, rule: Rule, alert: Alert, routingKey: string, message: MessageRow) {
  const link = `${settings.consoleUrl.replace(/\/$/, "")}/o/${message.tenant_id}/projects/p/${message.project_id}/r/${message.run_id}`;
  const what = message.thread_id === null ? `run ${message.run_id}` : `thread ${message.thread_id}`;
  const summary = alert.summary ?? `${rule.display_name} matched ${message.run_name ?? ""} (${what})`;
  return {
    routing_key: routingKey,
    event_action: "trigger",
    dedup_key: message.match_id,
    client: "Heddle",
    ...(/^https?:/.test(link) && { client_url: link, links: [{ href: link, text: "Run in Heddle" }] }),
    payload: {
      summary: summary.slice(0, 1024),
      source: `heddle/${message.project_id}`,
      severity: alert.severity,
      timestamp: message.matched_at,
      component: message.run_name,
      group: rule.display_name,
      class: "rule",
      custom_details: {
        rule_id: rule.rule_id,
        rule_name: rule.display_name,
        run_id: message.run_id,
        trace_id: message.trace_id,
        thread_id: message.thread_id,
        session_id: message.project_id,
      },
    },
  };
}

/**
 * Composes the event as JSON text. `rule_id`, `start_time`, `end_time`, `runs` and `feedback_stats` are as in LangSmith;
 * a run that has been deleted since is not in `runs`.
 */
async function composeWebhook(deps: TraceDeps, rule: Rule, message: MessageRow): Promise<string> {
  const { tenant_id: tenantId, run_id: id } = message;
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId));
  const plan = planV1(WITHOUT_STATS);
  const key = { id, project_id: message.project_id, start_time: message.start_time };
  const rows = await readRuns(deps.clickhouse, scope, [key], plan.columns);
  const related = await lookUp(deps, scope, rows, plan.lookups);
  const context = contextOf(deps.settings, scope, deps.settings.publicUrl ?? "");
  const isExtended = rule.actions.include_extended_stats === true;
  const stats = isExtended ? ((await feedbackStats(deps.sql, tenantId, "runs", [id])).get(id) ?? {}) : null;
  const runs = rows.map((row) => {
    const text = plan.print(row, related, context);
    return isExtended ? `${text.slice(0, -1)},"feedback_stats":${JSON.stringify(stats)}}` : text;
  });
  const facts = {
    event_id: message.match_id,
    rule_id: rule.rule_id,
    rule_name: rule.display_name,
    tenant_id: tenantId,
    session_id: message.project_id,
    run_id: id,
    thread_id: message.thread_id,
    trigger_time: message.acted_at,
    start_time: message.matched_at,
    end_time: message.acted_at,
    feedback_stats: stats,
  };
  return `${JSON.stringify(facts).slice(0, -1)},"runs":[${runs.join(",")}]}`;
}
