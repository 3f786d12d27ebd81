import type postgres from "postgres";

import type { Sql } from "./connect.ts";

/** Matches that are counted beyond a page: counting all of a million would take longer than the page. */
export const COUNTED_BEYOND = 10_000;

/**
 * Builds the number of matches of a list, at most COUNTED_BEYOND after its page, in a statement whose page has `n` rows.
 * They are counted only if they do not follow from a page that is not full.
 *
 * @param matching table and condition: `threads t where …`
 */
export const pageTotal = (
  sql: Sql,
  matching: postgres.PendingQuery<postgres.Row[]>,
  { limit, offset }: { limit: number; offset: number },
) => sql`
  case when n < ${limit} and (n > 0 or ${offset}::int = 0) then ${offset}::int + n
       else (select count(*)::int from (select 1 from ${matching} limit ${offset + limit + COUNTED_BEYOND}) m) end`;
