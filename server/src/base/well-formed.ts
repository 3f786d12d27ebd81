const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Replaces lone surrogates by U+FFFD: they have no UTF-8 encoding, so no store accepts them. */
export const wellFormed = (text: string): string =>
  /[\uD800-\uDFFF]/.test(text) ? text.replace(LONE_SURROGATE, "\uFFFD") : text;
