import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { projectQuery } from "../../features/projects/queries.ts";
import { feedbackQuery, runPlaceQuery, traceQuery } from "../../features/traces/queries.ts";
import { TracePage } from "../../features/traces/trace-page.tsx";
import { readTraceSearch, TRACE_SEARCH } from "../../features/traces/trace-search.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/r/$runId")({
  validateSearch: readTraceSearch,
  search: { middlewares: [stripSearchParams(TRACE_SEARCH)] },
  beforeLoad: ({ params: { projectId, runId }, search: { poll }, ...opening }) =>
    startQueries(opening, (client) => [
      // a run that may not have arrived is awaited by the page
      poll !== true &&
        client.fetchQuery(runPlaceQuery(projectId, runId)).then(
          ({ traceId }) => client.prefetchQuery(traceQuery(projectId, traceId)),
          () => {},
        ),
      client.prefetchQuery(projectQuery(projectId)),
      client.prefetchQuery(feedbackQuery(runId)),
    ]),
  component: TracePage,
});
