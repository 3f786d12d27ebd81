import type { Sql } from "../../base/db/connect.ts";
import { createFaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { LONGEST_WEBHOOK, type WebhookRules } from "../../base/webhooks/check-webhook.ts";
import { type ComposedMessage, WebhookSender, type WebhookSenderOptions } from "../../base/webhooks/webhook-sender.ts";
import { PROMPT_WEBHOOKS, selectPromptMessage } from "./sql.ts";
import { readHeaders } from "./webhook-headers.ts";

/** Rules on the URLs: those of the operator alone. */
export const RULES: WebhookRules = {
  source: null,
  disabled: false,
  headers: {},
  requireHttps: false,
  allowedDomains: null,
  allowedPorts: null,
  maxUrlLength: LONGEST_WEBHOOK,
  disableLoopback: true,
};

export interface PromptWebhooksOptions {
  sql: Sql;
  log: Log;
  settings: WebhookSenderOptions["settings"];
  outbound: Outbound;
  secrets: Secrets;
}

/** Sender of the messages about prompts. */
export const createPromptWebhooks = ({ secrets, ...options }: PromptWebhooksOptions): WebhookSender =>
  new WebhookSender({
    ...options,
    fault: createFaultPoint(undefined),
    tables: PROMPT_WEBHOOKS,
    rules: () => RULES,
    compose: (deliveryId) =>
      options.sql.begin(async (tx): Promise<ComposedMessage | undefined> => {
        const message = await selectPromptMessage(tx, deliveryId);
        if (!message) return undefined;
        const { webhook_id: id, url, text: body } = message;
        return { body, url, headers: await readHeaders(secrets, id, tx) };
      }) as Promise<ComposedMessage | undefined>,
    postSelf: () => null,
  });
