/** One page of a list: its items as JSON text, and the number of matches, exact up to 10,000 after the page (base/db/page-total.ts). */
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
