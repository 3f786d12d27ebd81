import { createFileRoute } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { MonitoringPage } from "../../features/monitoring/monitoring-page.tsx";
import { monitoringRange, readGroup, readMonitoringSearch } from "../../features/monitoring/monitoring-search.ts";
import { SELECTIONS, tagMovesQuery, timelineQuery } from "../../features/monitoring/queries.ts";
import { projectQuery } from "../../features/projects/queries.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/monitoring")({
  validateSearch: readMonitoringSearch,
  beforeLoad: ({ params: { projectId }, search, ...opening }) =>
    startQueries(opening, (client) => {
      const range = monitoringRange(search);
      const chosen = { group: readGroup(search), filter: search.filter };
      return [
        ...Object.values(SELECTIONS).map((select) =>
          client.prefetchQuery(timelineQuery(projectId, range, select(chosen))),
        ),
        client.prefetchQuery(projectQuery(projectId)),
        client.prefetchQuery(tagMovesQuery(range)),
      ];
    }),
  component: MonitoringPage,
});
