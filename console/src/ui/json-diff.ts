/**
 * Compares two JSON values and returns a flat list of differing members. Items of lists are matched by their id or key
 * where both lists have one in common, else by their kind (the role or type of a message) in order, else by position.
 * Their common prefix and suffix is removed first, so that an insertion in the middle is a single difference. Contents
 * come before ids and usage.
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
    const known = found.length;
    for (const [left, right] of matchItems(a.slice(start, a.length - end), b.slice(start, b.length - end))) {
      if (right === null) found.push({ path: [...path, start + left!], kind: "removed", before: a[start + left!] });
      else if (left === null) found.push({ path: [...path, start + right], kind: "added", after: b[start + right] });
      else walk([...path, start + right], a[start + left], b[start + right]);
    }
    // the same items in another order
    if (found.length === known) found.push({ path, kind: "changed", before: a, after: b });
  };
  walk([], before, after);
  return found.slice(0, limit).toSorted((one, other) => Number(isIncidental(one)) - Number(isIncidental(other)));
}

/** Members that differ between any two runs and say little about their content. */
const INCIDENTAL =
  /^(id|run_id|trace_id|thread_id|tool_call_id|usage_metadata|usage|response_metadata|created_at|timestamp)$/;

export const isIncidental = ({ path }: Difference): boolean =>
  path.some((part) => typeof part === "string" && INCIDENTAL.test(part));

type Match = [left: number | null, right: number | null];

/** Longest lists that are matched by kind; the effort is the product of their lengths. */
const MOST = 400;

function matchItems(a: unknown[], b: unknown[]): Match[] {
  const [idsA, idsB] = [a.map(readId), b.map(readId)];
  const positions = new Map(idsB.flatMap((id, at) => (id === null ? [] : [[id, at] as const])));
  if (idsA.some((id) => id !== null && positions.has(id))) {
    const matches = idsA.map((id, at): Match => [at, (id === null ? undefined : positions.get(id)) ?? null]);
    const taken = new Set(matches.map(([, right]) => right));
    return [...matches, ...b.flatMap((_, at): Match[] => (taken.has(at) ? [] : [[null, at]]))];
  }
  const [kindsA, kindsB] = [a.map(readKind), b.map(readKind)];
  const hasKinds = [...kindsA, ...kindsB].every((kind) => kind !== null);
  if (hasKinds && a.length <= MOST && b.length <= MOST) return alignKinds(kindsA, kindsB);
  return Array.from({ length: Math.max(a.length, b.length) }, (_, at): Match => [
    at < a.length ? at : null,
    at < b.length ? at : null,
  ]);
}

/** Matches items of the same kind in order, as many as possible: the longest common subsequence. */
function alignKinds(a: unknown[], b: unknown[]): Match[] {
  const lengths = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const matches: Match[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) matches.push([i++, j++]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) matches.push([i++, null]);
    else matches.push([null, j++]);
  }
  while (i < a.length) matches.push([i++, null]);
  while (j < b.length) matches.push([null, j++]);
  return matches;
}

function readId(item: unknown): string | null {
  if (!isObject(item)) return null;
  const id = item["id"] ?? item["key"] ?? item["tool_call_id"];
  return typeof id === "string" ? id : null;
}

function readKind(item: unknown): string | null {
  if (!isObject(item)) return null;
  const kind = item["role"] ?? item["type"] ?? item["name"];
  return typeof kind === "string" ? kind : null;
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
