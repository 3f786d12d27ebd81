import { useInfiniteQuery } from "@tanstack/react-query";

import { controlApi, data } from "../../api/clients.ts";
import type { components } from "../../api/control.d.ts";
import type { LogFilter } from "../../ui/log-view.tsx";
import type { LogKind } from "./tabs.ts";

type LogEntry = components["schemas"]["LogEntry"];

const PAGE = 1000;
/** Polling interval for new lines while the log is followed. */
const LIVE_MS = 1_500;

interface LogSource {
  deploymentId: string;
  /** Absent: all revisions. */
  revisionId?: string | undefined;
  kind: LogKind;
}

/**
 * Loads the newest lines, new lines as they arrive, and older ones on demand. New lines are requested after the newest
 * known one, so each is transferred once. `pages` go backwards, from the newest to the oldest.
 */
export function useLog(source: LogSource, filter: LogFilter, isLive: boolean) {
  const read = async (order: "asc" | "desc", offset: string | null): Promise<LogEntry[]> => {
    const query = {
      type: source.kind,
      order,
      limit: String(PAGE),
      ...(offset !== null && { offset }),
      ...(filter.query !== "" && { query: filter.query }),
      ...(filter.level !== "" && { level: filter.level as "INFO" }),
    };
    const path = { deployment_id: source.deploymentId };
    const answer =
      source.revisionId === undefined
        ? controlApi.GET("/v2/deployments/{deployment_id}/logs", { params: { path, query } })
        : controlApi.GET("/v2/deployments/{deployment_id}/revisions/{revision_id}/logs", {
            params: { path: { ...path, revision_id: source.revisionId }, query },
          });
    return (await data(answer)).logs;
  };
  const log = useInfiniteQuery({
    queryKey: ["control", "log", source, filter],
    async queryFn({ pageParam, client }) {
      if (pageParam !== null) return (await read("desc", pageParam)).toReversed();
      const known = client.getQueryData<{ pages: LogEntry[][] }>(["control", "log", source, filter])?.pages[0] ?? [];
      const newest = known.at(-1)?.id;
      if (newest === undefined) return (await read("desc", null)).toReversed();
      return [...known, ...(await read("asc", newest))];
    },
    initialPageParam: null as string | null,
    getNextPageParam: (oldest) => (oldest.length >= PAGE ? oldest[0]!.id : undefined),
    refetchInterval: isLive ? LIVE_MS : false,
    staleTime: isLive ? 0 : 60_000,
  });
  return { ...log, lines: log.data?.pages.toReversed().flat() ?? [] };
}
