import { receiverOrigin } from "../../base/webhooks/receiver-origin.ts";

/** Longer kwargs are not parsed: a query for due messages costs less. */
const READ_CHARS = 32 * 1024;

/**
 * Receiver of the webhook in a run's kwargs: null where the run has none, undefined where the kwargs were not parsed.
 */
export function receiverIn(kwargs: string): string | null | undefined {
  if (!kwargs.includes('"webhook"')) return null;
  if (kwargs.length > READ_CHARS) return undefined;
  const { webhook } = JSON.parse(kwargs) as { webhook?: unknown };
  return typeof webhook === "string" ? receiverOrigin(webhook) : null;
}
