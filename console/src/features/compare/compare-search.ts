const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Reads the ids of the two runs; either may be chosen on the page. */
export function readCompareSearch({ a, b }: { a?: unknown; b?: unknown }): { a?: string; b?: string } {
  const [first, second] = [findRunId(a), findRunId(b)];
  return { ...(first !== null && { a: first }), ...(second !== null && { b: second }) };
}

/** Extracts a run's id, bare or at the end of a URL. */
export const findRunId = (text: unknown): string | null =>
  typeof text === "string"
    ? (UUID.exec(text.split(/[?#]/, 1)[0]!.split("/r/").at(-1)!)?.[0].toLowerCase() ?? null)
    : null;
