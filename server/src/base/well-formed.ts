const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Replaces lone surrogates by U+FFFD: they have no UTF-8 encoding, so no store accepts them. */
export const wellFormed = (text: string): string =>
  /[\uD800-\uDFFF]/.test(text) ? text.replace(LONE_SURROGATE, "\uFFFD") : text;

/** Replaces null characters too: Postgres stores none. */
export const storableText = (text: string): string => wellFormed(text.replaceAll("\0", "\uFFFD"));
