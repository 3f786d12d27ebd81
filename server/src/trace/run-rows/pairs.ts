/**
 * Encodes keys and values as one text, for filters (migrations/clickhouse/0001_runs.sql explains why not as a map):
 * `␞key␟value␞key␟value␞`, where ␞ is U+001E and ␟ is U+001F. A tag list is `␞tag␞tag␞`.
 *
 * Operands of filters must be prepared by the same functions: pairText, and truncated to MAX_VALUE.
 */
export const ENTRY = "\u001e";
export const VALUE = "\u001f";

/** Contract §1.9: pairs are found by the first 250 characters of key and value, at most 100 of a run's inputs. */
export const MAX_VALUE = 250;
/** Metadata that names the thread of a run, in this order (contract §1.9). It is compared as a whole. */
export const THREAD_KEYS = ["session_id", "conversation_id", "thread_id"];
const MAX_PAIRS = 100;
const MAX_METADATA_PAIRS = 1000;
const MAX_DEPTH = 12;

/** Removes separators from a key, value or tag, and truncates it to the compared length. */
export const pairText = (text: string): string => wholeText(text.length > MAX_VALUE ? text.slice(0, MAX_VALUE) : text);

/** The same without truncation. */
export const wholeText = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- the two separators
  /[\u001e\u001f]/.test(text) ? text.replace(/[\u001e\u001f]/g, " ") : text;

export const encodeTags = (tags: readonly string[]): string =>
  tags.length === 0 ? ENTRY : ENTRY + tags.map(pairText).join(ENTRY) + ENTRY;

/** Encodes one level of metadata; values other than strings are compared by their JSON text. */
export function encodeMetadata(metadata: Record<string, unknown>): string {
  let text = ENTRY;
  let pairs = 0;
  for (const [key, value] of Object.entries(metadata)) {
    if (value === undefined || value === null) continue;
    if (++pairs > MAX_METADATA_PAIRS) break;
    const valueText = typeof value === "string" ? value : JSON.stringify(value);
    text += pairText(key) + VALUE + (THREAD_KEYS.includes(key) ? wholeText : pairText)(valueText) + ENTRY;
  }
  return text;
}

/** Encodes inputs or outputs: nested keys are joined by dots, array elements are listed under the array's key. */
export function encodePairs(root: unknown): string {
  if (root === null || typeof root !== "object" || Array.isArray(root)) return ENTRY;
  const out = { text: ENTRY, left: MAX_PAIRS };
  flatten(root, "", 0, out);
  return out.text;
}

function flatten(value: unknown, path: string, depth: number, out: { text: string; left: number }): void {
  if (out.left <= 0 || depth > MAX_DEPTH || value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) flatten(item, path, depth + 1, out);
  } else if (typeof value === "object") {
    for (const key in value) {
      flatten((value as Record<string, unknown>)[key], path === "" ? key : `${path}.${key}`, depth + 1, out);
    }
  } else {
    out.left--;
    out.text += pairText(path) + VALUE + pairText(typeof value === "string" ? value : JSON.stringify(value)) + ENTRY;
  }
}
