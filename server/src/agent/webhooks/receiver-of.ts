/** The receiver of relative URLs. */
export const SELF = "self";

/** Longer kwargs are not looked through: a look for messages costs less. */
const READ_CHARS = 32 * 1024;

/** What waits, fails and is paused together: scheme, host and port, as functions/webhooks.sql has it. */
export const receiverOf = (url: string): string =>
  (/^[A-Za-z]+:\/\/[^/?#\\]+/.exec(url)?.[0].toLowerCase() ?? SELF).slice(0, 300);

/** Of a run's kwargs as text: the receiver of its webhook, null where it has none, undefined where nobody has read it. */
export function receiverIn(kwargs: string): string | null | undefined {
  if (!kwargs.includes('"webhook"')) return null;
  if (kwargs.length > READ_CHARS) return undefined;
  const { webhook } = JSON.parse(kwargs) as { webhook?: unknown };
  return typeof webhook === "string" ? receiverOf(webhook) : null;
}
