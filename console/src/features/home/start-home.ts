import type { QueryClient } from "@tanstack/react-query";

import { interruptedCountQuery, spacesQuery } from "../../app/queries.ts";
import { threadListQuery } from "../threads/queries.ts";
import {
  failuresQuery,
  hoursQuery,
  newestDeploymentsQuery,
  queueStatisticsQuery,
  recentProjectsQuery,
} from "./queries.ts";

/** Starts the queries of the home page: those of its services, and of the agent server when it is the only one. */
export async function startHome(client: QueryClient): Promise<void> {
  const { agent, control, trace } = client.getQueryData(spacesQuery.queryKey)?.spaces ?? {};
  if (control) void client.prefetchQuery(newestDeploymentsQuery);
  else if (agent) {
    void client.prefetchQuery(queueStatisticsQuery("local"));
    void client.prefetchQuery(interruptedCountQuery("local"));
    void client.prefetchQuery(threadListQuery("local", {}));
  }
  if (!trace) return;
  await client.prefetchQuery(recentProjectsQuery);
  const ids = client.getQueryData(recentProjectsQuery.queryKey)?.map(({ id }) => id) ?? [];
  for (const id of ids) void client.prefetchQuery(hoursQuery(id));
  if (ids.length > 0) void client.prefetchQuery(failuresQuery(ids));
}
