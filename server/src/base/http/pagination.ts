/** Matches that are counted beyond a page: counting all of a million would take longer than the page. */
export const COUNTED_BEYOND = 10_000;

/** One page of a list: its items as JSON text, and the number of matches, at most `COUNTED_BEYOND` after the page. */
export interface Page {
  items: string;
  total: number;
}

/** Headers of a page: Total counts the matches, as `Page` does; Next is the next offset, if any. */
export function paginationHeaders(total: number, offset: number, limit: number): Record<string, string> {
  const headers: Record<string, string> = { "X-Pagination-Total": String(total) };
  if (offset + limit < total) headers["X-Pagination-Next"] = String(offset + limit);
  return headers;
}
