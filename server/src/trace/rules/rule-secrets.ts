import type { Transaction } from "../../base/db/connect.ts";
import { unprocessable } from "../../base/errors.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { MASK, type CreateBody } from "./schema.ts";

/** Secrets of a rule, in the order of its webhooks and alerts. */
export interface RuleSecrets {
  /** Headers with their values, by webhook; the URL says which one it was. */
  webhooks: { url: string; headers: Record<string, string> }[];
  /** Routing keys, by alert. */
  alerts: string[];
}

const secretOf = (ruleId: string) => ({ purpose: "rule", id: ruleId });

export async function readRuleSecrets(secrets: Secrets, ruleId: string, tx?: Transaction): Promise<RuleSecrets> {
  const text = await secrets.get(secretOf(ruleId), tx);
  return text === null ? { webhooks: [], alerts: [] } : (JSON.parse(text) as RuleSecrets);
}

/**
 * Takes the secrets from a body. A masked value keeps the stored one: of the webhook with the same URL, or of the alert
 * at the same place. @throws 422 for a masked value without a stored one
 */
export function takeSecrets(
  { webhooks, alerts }: Pick<CreateBody, "webhooks" | "alerts">,
  stored: RuleSecrets,
): RuleSecrets {
  return {
    webhooks: webhooks
      ? webhooks.map(({ url, headers }, index) => {
          const known = stored.webhooks.find((webhook) => webhook.url === url)?.headers ?? {};
          const byName = new Map(Object.entries(known).map(([name, value]) => [name.toLowerCase(), value]));
          const unmask = ([name, value]: [string, string]) => {
            const kept = value === MASK ? byName.get(name.toLowerCase()) : value;
            if (kept === undefined) {
              throw unprocessable(`webhooks.${index}.headers: ${name} has a masked value, and none is stored`);
            }
            return [name, kept];
          };
          return { url, headers: Object.fromEntries(Object.entries(headers ?? {}).map(unmask)) };
        })
      : webhooks === null
        ? []
        : stored.webhooks,
    alerts: alerts
      ? alerts.map(({ routing_key: key }, index) => {
          const kept = key === MASK ? stored.alerts[index] : key;
          if (kept === undefined) {
            throw unprocessable(`alerts.${index}.routing_key: has a masked value, and none is stored`);
          }
          return kept;
        })
      : alerts === null
        ? []
        : stored.alerts,
  };
}

export async function putRuleSecrets(
  secrets: Secrets,
  rule: { rule_id: string; tenant_id: string },
  values: RuleSecrets,
  tx: Transaction,
): Promise<void> {
  const isEmpty =
    values.alerts.length === 0 && values.webhooks.every(({ headers }) => Object.keys(headers).length === 0);
  if (isEmpty) await secrets.delete(secretOf(rule.rule_id), tx);
  else await secrets.put({ ...secretOf(rule.rule_id), workspaceId: rule.tenant_id }, JSON.stringify(values), tx);
}

export const deleteRuleSecrets = (secrets: Secrets, ruleId: string, tx: Transaction): Promise<void> =>
  secrets.delete(secretOf(ruleId), tx);
