import type { Outbound } from "../../base/outbound/outbound.ts";
import { checkWebhook, type WebhookRules } from "../../base/webhooks/check-webhook.ts";

const MOST = 1000;
/** Length limit of cached URLs: all of them stay below 2 MB. */
const LONGEST = 2000;

/**
 * Caches URLs that the rules allow: most runs use one of a few, and a check took a twentieth of the server's own time
 * for a trivial run. Only for URLs that are stored; before it is called, a URL is checked anew.
 */
export class KnownWebhooks {
  #outbound: Pick<Outbound, "check" | "policy">;
  #rules: () => WebhookRules;
  /** Rules that the cached URLs were checked against; a reloaded project has others. */
  #judgedBy: WebhookRules | undefined;
  #known = new Set<string>();

  constructor(outbound: Pick<Outbound, "check" | "policy">, rules: () => WebhookRules) {
    this.#outbound = outbound;
    this.#rules = rules;
  }

  /** Throws as checkWebhook does. */
  check(url: string): void {
    const rules = this.#rules();
    if (rules !== this.#judgedBy) {
      this.#known.clear();
      this.#judgedBy = rules;
    }
    if (this.#known.has(url)) return;
    checkWebhook(rules, this.#outbound, url);
    if (url.length > LONGEST) return;
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.add(url);
  }
}
