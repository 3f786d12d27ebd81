import { ConfigError, integer, type OptionSpec } from "../config/options.ts";
import { readSigningKeys, type SigningKey } from "./sign.ts";

const signingKeys: OptionSpec<SigningKey[]> = {
  env: ["HEDDLE_WEBHOOK_SECRETS"],
  default: [],
  secret: true,
  description:
    "Signing secrets of webhooks, following Standard Webhooks: whsec_ and base64 of 24 to 64 bytes; several, " +
    "separated by commas, during a rotation. Without one, webhooks are not signed.",
  parse(text) {
    try {
      return readSigningKeys(text);
    } catch (error) {
      // never quotes the value
      throw new ConfigError((error as Error).message);
    }
  },
};

/** Settings of webhook delivery. */
export const webhookOptions = {
  webhookSigningKeys: signingKeys,
  webhookTimeoutMs: integer({
    env: ["HEDDLE_WEBHOOK_TIMEOUT_MS"],
    default: 10_000,
    min: 100,
    max: 120_000,
    description: "How long a webhook's receiver may take to respond, in ms, before the attempt fails.",
  }),
  webhookConcurrency: integer({
    env: ["HEDDLE_WEBHOOK_CONCURRENCY"],
    default: 64,
    min: 2,
    max: 1000,
    description: "Maximum number of webhooks that this server sends concurrently.",
  }),
  webhooksPerReceiver: integer({
    env: ["HEDDLE_WEBHOOKS_PER_RECEIVER"],
    default: 8,
    min: 1,
    max: 1000,
    description:
      "Maximum number of concurrent webhooks to one receiver (scheme, host and port); one to a receiver that " +
      "has not responded yet.",
  }),
  webhookMaxAttempts: integer({
    env: ["HEDDLE_WEBHOOK_MAX_ATTEMPTS"],
    default: 12,
    min: 1,
    max: 100,
    description: "Maximum number of attempts to deliver a webhook; the twelfth comes some 19 hours after the first.",
  }),
  webhookRetryMs: integer({
    env: ["HEDDLE_WEBHOOK_RETRY_MS"],
    default: 5000,
    min: 10,
    max: 3_600_000,
    description:
      "Delay before a webhook's second attempt; each further delay is three times as long, at most four hours.",
  }),
  webhookRetentionHours: integer({
    env: ["HEDDLE_WEBHOOK_RETENTION_HOURS"],
    default: 168,
    min: 1,
    max: 87_600,
    description: "Retention of delivered and given-up webhooks with their contents, for inspection and replay.",
  }),
};
