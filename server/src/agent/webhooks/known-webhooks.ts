import type { Outbound } from "../../base/outbound/outbound.ts";
import { checkWebhook } from "./check-webhook.ts";
import type { WebhookRules } from "./config.ts";

const MOST = 1000;
/** Characters of a URL that is remembered: all of them stay below 2 MB. */
const LONGEST = 2000;

/**
 * Webhooks that the rules allow, remembered: most runs name one of a few, and judging one was a twentieth of the
 * server's own time for a trivial run. Only for what is written down; before it is called, a URL is judged anew.
 */
export class KnownWebhooks {
  #outbound: Pick<Outbound, "check" | "policy">;
  #rules: () => WebhookRules;
  /** Those by which the known ones were judged: a project that is loaded again has others. */
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
