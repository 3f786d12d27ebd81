const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Ids of the two runs; either may be chosen on the page. */
export function readCompareSearch({ a, b }: { a?: unknown; b?: unknown }): { a?: string; b?: string } {
  const [first, second] = [runIdIn(a), runIdIn(b)];
  return { ...(first !== null && { a: first }), ...(second !== null && { b: second }) };
}

/** A run's id, bare or as the last of an address. */
export const runIdIn = (text: unknown): string | null =>
  typeof text === "string"
    ? (UUID.exec(text.split(/[?#]/, 1)[0]!.split("/r/").at(-1)!)?.[0].toLowerCase() ?? null)
    : null;
