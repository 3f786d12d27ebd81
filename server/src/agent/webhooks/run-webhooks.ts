import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { traceHeaders } from "../../base/telemetry/trace-context.ts";
import type { WebhookRules } from "../../base/webhooks/check-webhook.ts";
import { type ComposedMessage, WebhookSender } from "../../base/webhooks/webhook-sender.ts";
import type { AgentSettings } from "../settings.ts";
import { KnownWebhooks } from "./known-webhooks.ts";
import { postHere } from "./post-here.ts";
import { RUN_WEBHOOKS, selectMessage } from "./sql.ts";

export interface RunWebhooksOptions {
  sql: Sql;
  log: Log;
  settings: AgentSettings;
  outbound: Outbound;
  fault: FaultPoint;
  rules(): WebhookRules;
  /** Handler for requests to this server's own paths; null at the start and in a worker. */
  answer(): ((request: Request) => Promise<Response>) | null;
}

/** Sends the messages about ended runs. */
export class RunWebhooks extends WebhookSender {
  readonly #known: KnownWebhooks;

  constructor({ answer, ...options }: RunWebhooksOptions) {
    const { sql, rules } = options;
    super({
      ...options,
      tables: RUN_WEBHOOKS,
      compose: (id, sentAt) => composeRunMessage(sql, rules(), id, sentAt),
      postSelf: () => (answer() === null ? null : (message) => postHere(answer(), message)),
    });
    this.#known = new KnownWebhooks(options.outbound, rules);
  }

  /** Checks the webhook of a run or cron before it is accepted. Throws 422 with the violated rule. */
  check(url: string): void {
    this.#known.check(url);
  }
}

async function composeRunMessage(
  sql: Sql,
  rules: WebhookRules,
  deliveryId: string,
  sentAt: Date,
): Promise<ComposedMessage | undefined> {
  const message = await selectMessage(sql, deliveryId);
  if (message === undefined) return undefined;
  const body = `${message.text.slice(0, -1)},"webhook_sent_at":"${sentAt.toISOString()}"}`;
  return { body, headers: { ...traceHeaders(message), ...rules.headers } };
}
