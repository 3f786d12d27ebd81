import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { mergeNewest, type RunPage } from "./merge-newest.ts";
import type { Run } from "./run-record.ts";
import { boundsAt, type RunSearch } from "./run-search.ts";
import { LIVE_MS, runsQuery, runQueryBody, SELECTED } from "./queries.ts";

/**
 * Loads the runs of a project page by page. In live mode only the newest are refetched, and merged on top of the loaded
 * pages.
 */
export function useLiveRuns(projectId: string, search: RunSearch) {
  const client = useQueryClient();
  const query = runsQuery(projectId, search);
  const found = useInfiniteQuery({ ...query, enabled: search.tab !== "threads" });
  const isLive = search.live && search.desc && search.to === "" && search.tab !== "threads" && found.isSuccess;
  const live = useQuery({
    queryKey: ["runs-live", ...query.queryKey.slice(1)],
    queryFn: async ({ signal }) => {
      const body = {
        ...runQueryBody(projectId, search),
        ...boundsAt(search, Date.now()),
        select: SELECTED,
        limit: 50,
      };
      const newest = await data(traceApi.POST("/api/v1/runs/query", { body, signal }));
      const known = client.getQueryData<InfiniteData<Pick<RunPage, "runs" | "cursors">, string | null>>(query.queryKey);
      const merged = known && mergeNewest(known, newest);
      // so many arrived at once that some in between are missing
      if (merged === null) await client.resetQueries({ queryKey: query.queryKey });
      else if (merged !== known) client.setQueryData(query.queryKey, merged);
      return newest.runs.length;
    },
    enabled: isLive,
    refetchInterval: LIVE_MS,
    staleTime: LIVE_MS,
  });
  const runs = useMemo((): Run[] => found.data?.pages.flatMap((page) => page.runs) ?? [], [found.data]);
  return { found, runs, isLive, liveError: isLive ? live.error : null };
}
