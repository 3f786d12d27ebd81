/**
 * Makes JSON text acceptable to jsonb, which rejects the null character and lone surrogates although JSON allows both:
 * they become U+FFFD. Text without them, the usual case, is returned unchanged.
 */
export function jsonbText(json: string): string {
  if (!SUSPECT.test(json)) return json;
  return JSON.stringify(clean(JSON.parse(json)));
}

// JSON.stringify escapes both, so none occur raw; parsing resolves a backslash escaped before the u.
const SUSPECT = /\\u(0000|d[89a-f])/i;

function clean(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), clean(item)]));
}

/** Cleans text for a text column, which rejects the null character; lone surrogates become U+FFFD in UTF-8. */
export function cleanText(text: string): string {
  return REJECTED.test(text) ? text.replaceAll(ALL_REJECTED, "\ufffd") : text;
}

// With the u flag, only lone surrogates match.
const REJECTED = /[\0\p{Surrogate}]/u;
const ALL_REJECTED = new RegExp(REJECTED, "gu");
