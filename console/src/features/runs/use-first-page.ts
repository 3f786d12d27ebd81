import { useInfiniteQuery } from "@tanstack/react-query";

import { runsQuery, threadsQuery } from "./queries.ts";
import type { RunSearch } from "./run-search.ts";

/**
 * Whether the tab's list has its first page, or has failed. Statistics and facets, which read all runs of the time range,
 * wait for it: at the same time they would take the server's processors from the list, which readers come for.
 */
export function useFirstPage(projectId: string, search: RunSearch): boolean {
  const runs = useInfiniteQuery({ ...runsQuery(projectId, search), enabled: false });
  const threads = useInfiniteQuery({ ...threadsQuery(projectId, search), enabled: false });
  return !(search.tab === "threads" ? threads : runs).isPending;
}
