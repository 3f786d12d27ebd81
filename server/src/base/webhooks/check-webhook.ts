import { unprocessable } from "../errors.ts";
import { urlHost, urlPort } from "../outbound/check-url.ts";
import type { Outbound } from "../outbound/outbound.ts";
import { namesPort } from "../outbound/policy.ts";

/** The contract's limit of the field. */
export const LONGEST_WEBHOOK = 65_536;

/** Rules on the URLs of webhooks. */
export interface WebhookRules {
  /** Configuration that messages name: `webhooks.url`; null where there is none. */
  source: string | null;
  disabled: boolean;
  /** Headers of each message: names in lower case. Values may be secrets. */
  headers: Record<string, string>;
  requireHttps: boolean;
  /** Lower case; null: any. */
  allowedDomains: string[] | null;
  /** null: 443 for https, 80 for http. */
  allowedPorts: number[] | null;
  maxUrlLength: number;
  disableLoopback: boolean;
}

/** Whether the URL is a path of this server, and not one that a browser would resolve to another host. */
export const isRelative = (url: string): boolean => /^\/(?![/\\])/.test(url);

/**
 * Checks a webhook's URL against the rules and the operator's, when it is stored and again before each
 * attempt. Throws 422 with the violated rule; the URL's query is in no message.
 */
export function checkWebhook(rules: WebhookRules, outbound: Pick<Outbound, "check" | "policy">, url: string): void {
  const bad = (why: string) => unprocessable(`Invalid webhook: ${why}`);
  const by = (setting: string) => (rules.source === null ? "" : ` (${rules.source}.${setting})`);
  if (rules.disabled) throw unprocessable("Webhooks are disabled on this server (http.disable_webhooks).");
  if (url.length > rules.maxUrlLength) {
    throw bad(`the URL is longer than ${rules.maxUrlLength} characters${by("max_url_length")}.`);
  }
  // the URL standard's parser would drop some of them
  if (/\p{Cc}/u.test(url)) throw bad("the URL contains control characters.");
  if (isRelative(url)) {
    if (rules.disableLoopback) throw bad(`relative URLs are not allowed${by("disable_loopback")}.`);
    if (!URL.canParse(url, "http://self")) throw bad("the URL is malformed.");
    return;
  }
  if (!/^https?:\/\//i.test(url)) throw bad("it must be an http or https URL, or a path of this server.");
  let parsed: URL;
  try {
    parsed = outbound.check(url);
  } catch (error) {
    throw bad((error as Error).message);
  }
  if (rules.requireHttps && parsed.protocol !== "https:") {
    throw bad(`the URL must begin with https://${by("require_https")}.`);
  }
  const host = urlHost(parsed);
  if (rules.allowedDomains && !rules.allowedDomains.some((allowed) => covers(allowed, host))) {
    throw bad(`${host} is not among the allowed hosts${by("allowed_domains")}.`);
  }
  const port = urlPort(parsed);
  const ports = rules.allowedPorts ?? [parsed.protocol === "https:" ? 443 : 80];
  if (ports.includes(port)) return;
  // a developer's own receiver on the same machine
  const isDefault = rules.allowedPorts === null;
  if (isDefault && outbound.policy.openLoopback && isLoopbackName(host)) return;
  if (isDefault && namesPort(outbound.policy, host, port)) return;
  const text = `port ${port} is not among the allowed ones: ${ports.join(", ")}${by("allowed_ports")}.`;
  throw bad(isDefault ? `${text} The operator can allow it: HEDDLE_OUTBOUND_ALLOW=${parsed.hostname}:${port}.` : text);
}

const covers = (allowed: string, host: string): boolean =>
  allowed.startsWith("*.") ? host.endsWith(allowed.slice(1)) : allowed.replace(/^\[|\]$/g, "") === host;

const isLoopbackName = (host: string): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || host === "::1" || host === "localhost" || host.endsWith(".localhost");

/** Masks the query, which may hold a secret, for logs and messages. */
export const maskUrl = (url: string): string => url.replace(/[?#].*$/s, "?…");
