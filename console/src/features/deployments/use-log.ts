import { useInfiniteQuery } from "@tanstack/react-query";

import type { LogFilter } from "../../ui/log-view.tsx";
import { logQuery, type LogSource } from "./queries.ts";

/**
 * Loads the newest lines, new lines as they arrive, and older ones on demand. `lines` are oldest first, by the times at
 * which their processes wrote them: those of several processes arrive in another order.
 */
export function useLog(source: LogSource, filter: LogFilter, isLive: boolean) {
  const log = useInfiniteQuery(logQuery(source, filter, isLive));
  return { ...log, lines: (log.data?.pages.toReversed().flat() ?? []).toSorted((a, b) => a.timestamp - b.timestamp) };
}
