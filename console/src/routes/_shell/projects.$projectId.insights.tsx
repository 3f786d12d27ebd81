import { createFileRoute } from "@tanstack/react-router";

import { jobsQuery } from "../../features/insights/queries.ts";
import { projectQuery } from "../../features/projects/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { InsightsPage } from "../../features/insights/insights-page.tsx";
import { readInsightsSearch } from "../../features/insights/insights-search.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/insights")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [
      client.prefetchQuery(projectQuery(params.projectId)),
      client.prefetchQuery(jobsQuery(params.projectId)),
    ]),
  component: InsightsPage,
  validateSearch: readInsightsSearch,
});
