/** Receiver of relative URLs. */
export const SELF = "self";

/**
 * Receiver of a URL: scheme, host and port, as in functions/webhooks.sql. Messages wait, fail and are paused per
 * receiver.
 */
export const receiverOrigin = (url: string): string =>
  (/^[A-Za-z]+:\/\/[^/?#\\]+/.exec(url)?.[0].toLowerCase() ?? SELF).slice(0, 300);
