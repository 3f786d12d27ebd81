import type { z } from "zod";

import { AppError, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import { checkWebhook } from "../../base/webhooks/check-webhook.ts";
import { buildPost } from "../../base/webhooks/webhook-sender.ts";
import type { TraceDeps } from "../deps.ts";
import { RULES } from "../prompt-webhooks/prompt-webhooks.ts";
import { composeFor, describeSubject } from "./alert-messages.ts";
import { composeDefinition } from "./change-alert.ts";
import type { MessageSubject } from "./compose-message.ts";
import { takeChannels } from "./replace-channels.ts";
import type { testBody, testResult } from "./schema.ts";
import { type Channel, joinChannel, readChannelSecrets } from "./secrets.ts";
import { findAlertRule } from "./sql.ts";
import { unknownAlert } from "./unknown-alert.ts";

type Deps = Pick<TraceDeps, "sql" | "secrets" | "outbound" | "settings">;
type Result = z.output<typeof testResult>["results"][number];

const MAX_ANSWER = 64 * 1024;
/** Messages in progress of a request. */
const MAX_AT_ONCE = 10;
const SAMPLE = {
  type: "threshold",
  attribute: "error_count",
  aggregation: "pct",
  operator: "gt",
  threshold: 5,
  window_minutes: 5,
} as const;

/** Sends a test message by channels, which need not be stored, and reports what each receiver answered. */
export async function testChannels(
  deps: Deps,
  tenantId: string,
  projectId: string | null,
  body: z.output<typeof testBody>,
): Promise<z.output<typeof testResult>> {
  const { sql, secrets, settings } = deps;
  const stored = body.alert_rule_id ? await findAlertRule(sql, tenantId, body.alert_rule_id) : undefined;
  if (body.alert_rule_id && (!stored || stored.project_id !== projectId)) throw unknownAlert(body.alert_rule_id);
  const sealed = stored ? await readChannelSecrets(secrets, stored.rule_id) : {};
  const channels = body.actions
    ? takeChannels(deps, body.actions, stored?.actions ?? [], sealed).channels
    : (stored?.actions ?? [])
        .filter(({ removed }) => !removed)
        .map((action) => ({ ...joinChannel(action, sealed[action.id]), id: action.id }));
  if (channels.length === 0) throw unprocessable("actions: there is no channel to test");
  const rule = {
    rule_id: stored?.rule_id ?? uuid7(),
    tenant_id: tenantId,
    project_id: projectId,
    name: body.rule?.name ?? stored?.name ?? "Test",
    definition: composeDefinition(body.rule ?? {}, stored?.definition ?? composeDefinition(SAMPLE, undefined)),
  };
  const now = new Date().toISOString();
  const { threshold } = rule.definition;
  const subject = await describeSubject(sql, settings.consoleUrl, rule, {
    event: "test",
    incident_id: uuid7(),
    tenant_id: tenantId,
    rule_id: rule.rule_id,
    group_name: "",
    severity: body.rule?.severity ?? stored?.severity ?? "info",
    began_at: now,
    fired_at: now,
    resolved_at: null,
    value: threshold,
    worst: threshold,
    last_value: threshold,
    threshold,
    reason: null,
    period: null,
    level: null,
  });
  const known = new Set(stored?.actions.map(({ id }) => id));
  const messages = channels.flatMap(
    ({ id, ...channel }): { id: string; channel: Channel; recipient: string | null }[] =>
      channel.target === "email"
        ? channel.config.to.map((to) => ({ id, channel: { ...channel, config: { to: [to] } }, recipient: to }))
        : [{ id, channel: channel as Channel, recipient: null }],
  );
  const results = await inParallel(messages, MAX_AT_ONCE, async ({ id, channel, recipient }): Promise<Result> => {
    const result = await testChannel(deps, channel, subject);
    return { action_id: known.has(id) ? id : null, target: channel.target, recipient, ...result };
  });
  const failed = results.filter((result) => result.status === "failed").length;
  const message =
    failed === 0 ? "All channels accepted the test message." : `${failed} of ${results.length} messages failed.`;
  return { message, results };
}

async function testChannel(
  deps: Deps,
  channel: Channel,
  subject: MessageSubject,
): Promise<Omit<Result, "action_id" | "target" | "recipient">> {
  const id = uuid7();
  const message = composeFor(deps, channel, subject, id);
  if (message.post) {
    const sent = (await message.post()) as Awaited<ReturnType<typeof message.post>> & { answer?: string | null };
    const answer = sent.answer ?? null;
    const code = answer === null ? null : Number(/^\d{3}/.exec(answer)?.[0] ?? NaN);
    const isDelivered = sent.statusCode !== null && sent.error === null;
    const status_code = code === null || Number.isNaN(code) ? null : code;
    return { status: isDelivered ? "delivered" : "failed", status_code, answer, error: sent.error };
  }
  const result = await post(deps, id, message);
  if (channel.target === "pagerduty" && result.status === "delivered") {
    // no incident stays open
    await post(
      deps,
      uuid7(),
      composeFor(deps, channel, { ...subject, message: { ...subject.message, event: "resolved" } }, id),
    );
  }
  return result;
}

async function post(
  { outbound, settings }: Deps,
  id: string,
  message: ReturnType<typeof composeFor>,
): Promise<Omit<Result, "action_id" | "target" | "recipient">> {
  const url = message.url!;
  try {
    checkWebhook(RULES, outbound, url);
    const { headers, body, timeoutMs } = buildPost(settings, id, url, message, new Date());
    const init = { method: "POST", headers, body, redirect: "manual" as const };
    const response = await outbound.fetch(url, init, { maxBytes: MAX_ANSWER, totalMs: timeoutMs });
    const answer = (await response.text()).slice(0, 4096);
    const error = response.ok ? null : `The receiver responded with status ${response.status}.`;
    return { status: response.ok ? "delivered" : "failed", status_code: response.status, answer, error };
  } catch (error) {
    if (!(error instanceof AppError) && !(error instanceof OutboundError)) throw error;
    return { status: "failed", status_code: null, answer: null, error: error.message };
  }
}
