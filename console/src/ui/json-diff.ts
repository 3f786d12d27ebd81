/**
 * Compares two JSON values and returns a flat list of differing members. Lists are compared by position after removing
 * their common prefix and suffix, so that an insertion in the middle is a single difference.
 */
export interface Difference {
  /** Names and indexes from the top; in lists the position in `after`, or in `before` for removed items. */
  path: (string | number)[];
  kind: "added" | "removed" | "changed";
  before?: unknown;
  after?: unknown;
}

/** @param limit maximum number of differences */
export function diffJson(before: unknown, after: unknown, limit = 2000): Difference[] {
  const found: Difference[] = [];
  const walk = (path: (string | number)[], a: unknown, b: unknown): void => {
    if (found.length >= limit || isSame(a, b)) return;
    if (Array.isArray(a) && Array.isArray(b)) return lists(path, a, b);
    if (isObject(a) && isObject(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        if (!Object.hasOwn(b, key)) found.push({ path: [...path, key], kind: "removed", before: a[key] });
        else if (!Object.hasOwn(a, key)) found.push({ path: [...path, key], kind: "added", after: b[key] });
        else walk([...path, key], a[key], b[key]);
      }
      return;
    }
    found.push({ path, kind: "changed", before: a, after: b });
  };
  const lists = (path: (string | number)[], a: unknown[], b: unknown[]): void => {
    let start = 0;
    while (start < a.length && start < b.length && isSame(a[start], b[start])) start += 1;
    let end = 0;
    while (end < a.length - start && end < b.length - start && isSame(a[a.length - 1 - end], b[b.length - 1 - end])) {
      end += 1;
    }
    const [lengthA, lengthB] = [a.length - start - end, b.length - start - end];
    const both = Math.min(lengthA, lengthB);
    for (let at = start; at < start + both; at++) walk([...path, at], a[at], b[at]);
    for (let at = start + both; at < start + lengthA; at++) {
      found.push({ path: [...path, at], kind: "removed", before: a[at] });
    }
    for (let at = start + both; at < start + lengthB; at++) {
      found.push({ path: [...path, at], kind: "added", after: b[at] });
    }
  };
  walk([], before, after);
  return found.slice(0, limit);
}

export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Formats a path: `messages[2].content`. */
export function formatPath(path: (string | number)[]): string {
  if (path.length === 0) return "(entire value)";
  return path
    .map((part, at) => {
      if (typeof part === "number") return `[${part}]`;
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part)) return `[${JSON.stringify(part)}]`;
      return at === 0 ? part : `.${part}`;
    })
    .join("");
}
