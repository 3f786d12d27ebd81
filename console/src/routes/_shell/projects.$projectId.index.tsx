import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { projectQuery } from "../../features/projects/queries.ts";
import { ProjectPage } from "../../features/runs/project-page.tsx";
import { runsQuery, threadsQuery } from "../../features/runs/queries.ts";
import { readRunSearch, RUN_SEARCH } from "../../features/runs/run-search.ts";
import { viewsQuery } from "../../features/runs/view-queries.ts";
import { turnsQuery } from "../../features/traces/queries.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/")({
  validateSearch: readRunSearch,
  search: { middlewares: [stripSearchParams(RUN_SEARCH)] },
  beforeLoad: ({ params: { projectId }, search: given, ...opening }) =>
    startQueries(opening, (client) => {
      const search = { ...RUN_SEARCH, ...given };
      return [
        search.tab !== "threads"
          ? client.prefetchInfiniteQuery(runsQuery(projectId, search))
          : search.thread === ""
            ? client.prefetchInfiniteQuery(threadsQuery(projectId, search))
            : client.prefetchQuery(turnsQuery(projectId, search.thread)),
        client.prefetchQuery(projectQuery(projectId)),
        client.prefetchQuery(viewsQuery(projectId)),
      ];
    }),
  component: ProjectPage,
});
