import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import type { Run } from "./run-record.ts";
import { isNewestFirst, type RunSearch } from "./run-search.ts";
import { liveRunsQuery, runsQuery } from "./queries.ts";

/**
 * Loads the runs of a project page by page. In live mode only the newest are refetched, and merged on top of the loaded
 * pages.
 */
export function useLiveRuns(projectId: string, search: RunSearch) {
  const found = useInfiniteQuery({ ...runsQuery(projectId, search), enabled: search.tab !== "threads" });
  const isLive = search.live && isNewestFirst(search) && search.tab !== "threads" && found.isSuccess;
  // the first page has just come: the newest runs are not read again at once
  const live = useQuery({ ...liveRunsQuery(projectId, search), enabled: isLive, initialData: 0 });
  const runs = useMemo((): Run[] => found.data?.pages.flatMap((page) => page.runs) ?? [], [found.data]);
  return { found, runs, isLive, liveError: isLive ? live.error : null };
}
