import { unprocessable } from "../../base/errors.ts";
import { urlHost, urlPort } from "../../base/outbound/check-url.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { namesPort } from "../../base/outbound/policy.ts";
import type { WebhookRules } from "../project/webhook-config.ts";

/** Whether the URL is a path of this server, and not one that a browser would resolve to another host. */
export const isRelative = (url: string): boolean => /^\/(?![/\\])/.test(url);

/**
 * Checks a webhook's URL against the project's rules and the operator's, when it is stored and again before each
 * attempt. Throws 422 with the violated rule; the URL's query is in no message.
 */
export function checkWebhook(rules: WebhookRules, outbound: Pick<Outbound, "check" | "policy">, url: string): void {
  const bad = (why: string) => unprocessable(`Invalid webhook: ${why}`);
  if (rules.disabled) throw unprocessable("Webhooks are disabled on this server (http.disable_webhooks).");
  if (url.length > rules.maxUrlLength) {
    throw bad(`the URL is longer than ${rules.maxUrlLength} characters (webhooks.url.max_url_length).`);
  }
  // the URL standard's parser would drop some of them
  if (/\p{Cc}/u.test(url)) throw bad("the URL contains control characters.");
  if (isRelative(url)) {
    if (rules.disableLoopback) throw bad("relative URLs are not allowed (webhooks.url.disable_loopback).");
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
    throw bad("the URL must begin with https:// (webhooks.url.require_https).");
  }
  const host = urlHost(parsed);
  if (rules.allowedDomains && !rules.allowedDomains.some((allowed) => covers(allowed, host))) {
    throw bad(`${host} is not among the allowed hosts (webhooks.url.allowed_domains).`);
  }
  const port = urlPort(parsed);
  const ports = rules.allowedPorts ?? [parsed.protocol === "https:" ? 443 : 80];
  if (ports.includes(port)) return;
  // a developer's own receiver on the same machine
  const isDefault = rules.allowedPorts === null;
  if (isDefault && outbound.policy.openLoopback && isLoopbackName(host)) return;
  if (isDefault && namesPort(outbound.policy, host, port)) return;
  const text = `port ${port} is not among the allowed ones: ${ports.join(", ")} (webhooks.url.allowed_ports).`;
  throw bad(isDefault ? `${text} The operator can allow it: HEDDLE_OUTBOUND_ALLOW=${parsed.hostname}:${port}.` : text);
}

const covers = (allowed: string, host: string): boolean =>
  allowed.startsWith("*.") ? host.endsWith(allowed.slice(1)) : allowed.replace(/^\[|\]$/g, "") === host;

const isLoopbackName = (host: string): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || host === "::1" || host === "localhost" || host.endsWith(".localhost");

/** Masks the query, which may hold a secret, for logs and messages. */
export const maskUrl = (url: string): string => url.replace(/[?#].*$/s, "?…");
