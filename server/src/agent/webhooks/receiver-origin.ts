/** Receiver of relative URLs. */
export const SELF = "self";

/** Longer kwargs are not parsed: a query for due messages costs less. */
const READ_CHARS = 32 * 1024;

/**
 * Receiver of a URL: scheme, host and port, as in functions/webhooks.sql. Messages wait, fail and are paused per
 * receiver.
 */
export const receiverOrigin = (url: string): string =>
  (/^[A-Za-z]+:\/\/[^/?#\\]+/.exec(url)?.[0].toLowerCase() ?? SELF).slice(0, 300);

/**
 * Receiver of the webhook in a run's kwargs: null where the run has none, undefined where the kwargs were not parsed.
 */
export function receiverIn(kwargs: string): string | null | undefined {
  if (!kwargs.includes('"webhook"')) return null;
  if (kwargs.length > READ_CHARS) return undefined;
  const { webhook } = JSON.parse(kwargs) as { webhook?: unknown };
  return typeof webhook === "string" ? receiverOrigin(webhook) : null;
}
