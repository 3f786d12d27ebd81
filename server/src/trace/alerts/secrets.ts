import type { Transaction } from "../../base/db/connect.ts";
import { unprocessable } from "../../base/errors.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { receiverOrigin } from "../../base/webhooks/receiver-origin.ts";
import type { AlertAction, Target } from "./sql.ts";

/** Shown instead of a secret. Sent back, it keeps the stored one. */
export const MASK = "••••••••";

/** Configuration of a channel as callers send it, by target. */
export interface ChannelConfigs {
  webhook: { url: string; headers?: Record<string, string> | null | undefined };
  slack: { url: string };
  teams: { url: string };
  pagerduty: { routing_key: string };
  email: { to: string[] };
}

/** A channel with its secrets. */
export type Channel = { [T in Target]: { target: T; config: ChannelConfigs[T] } }[Target];

export type ChannelInput = Channel & { id?: string | null | undefined };

/** Secrets of a rule's channels, by the action's id: what is masked in `config`. */
export type ChannelSecrets = Record<string, Record<string, unknown>>;

const secretOf = (ruleId: string) => ({ purpose: "alert-rule", id: ruleId });

export async function readChannelSecrets(secrets: Secrets, ruleId: string, tx?: Transaction): Promise<ChannelSecrets> {
  const text = await secrets.get(secretOf(ruleId), tx);
  return text === null ? {} : (JSON.parse(text) as ChannelSecrets);
}

export async function putChannelSecrets(
  secrets: Secrets,
  rule: { rule_id: string; tenant_id: string },
  values: ChannelSecrets,
  tx: Transaction,
): Promise<void> {
  if (Object.keys(values).length === 0) await secrets.delete(secretOf(rule.rule_id), tx);
  else await secrets.put({ ...secretOf(rule.rule_id), workspaceId: rule.tenant_id }, JSON.stringify(values), tx);
}

export const deleteChannelSecrets = (secrets: Secrets, ruleId: string, tx: Transaction): Promise<void> =>
  secrets.delete(secretOf(ruleId), tx);

/** Separates what is shown of a channel from what is sealed. */
export function splitChannel({ target, config }: Channel): {
  shown: Record<string, unknown>;
  sealed: Record<string, unknown> | undefined;
} {
  switch (target) {
    case "webhook": {
      const headers = config.headers ?? {};
      const names = Object.keys(headers);
      const masked = Object.fromEntries(names.map((name) => [name, MASK]));
      return { shown: { url: config.url, headers: masked }, sealed: names.length > 0 ? { headers } : undefined };
    }
    case "slack":
    case "teams":
      return { shown: { url: `${receiverOrigin(config.url)}/${MASK}` }, sealed: { url: config.url } };
    case "pagerduty":
      return { shown: { routing_key: MASK }, sealed: { routing_key: config.routing_key } };
    case "email":
      return { shown: { to: config.to }, sealed: undefined };
  }
}

/** Joins a stored channel with its secrets. */
export function joinChannel({ target, config }: AlertAction, sealed: Record<string, unknown> | undefined): Channel {
  return { target, config: { ...config, ...sealed } } as unknown as Channel;
}

/**
 * Replaces masked values by those of a stored channel.
 * @throws 422 for a masked value without a stored one
 */
export function unmaskChannel(input: Channel, stored: Channel | undefined, place: string): Channel {
  const known = stored?.target === input.target ? stored : undefined;
  const missing = (field: string) => unprocessable(`${place}.config.${field}: has a masked value, and none is stored`);
  if (input.target === "webhook") {
    const old = known as { config: ChannelConfigs["webhook"] } | undefined;
    // a header goes to no other receiver than it was stored for
    const isSame = old !== undefined && receiverOrigin(old.config.url) === receiverOrigin(input.config.url);
    const kept = new Map(
      Object.entries((isSame && old.config.headers) || {}).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const headers = Object.entries(input.config.headers ?? {}).map(([name, value]) => {
      const plain = value === MASK ? kept.get(name.toLowerCase()) : value;
      if (plain === undefined) throw missing(`headers.${name}`);
      return [name, plain] as const;
    });
    return { target: "webhook", config: { url: input.config.url, headers: Object.fromEntries(headers) } };
  }
  if (input.target === "email") return input;
  const field = input.target === "pagerduty" ? "routing_key" : "url";
  const value = (input.config as unknown as Record<string, string>)[field]!;
  if (!value.includes(MASK)) return input;
  const shown = known && splitChannel(known).shown[field];
  if (known === undefined || shown !== value) throw missing(field);
  return known;
}
