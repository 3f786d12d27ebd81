import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { PROJECT_SEARCH, readProjectSearch } from "../../features/projects/project-search.ts";
import { ProjectsPage } from "../../features/projects/projects-page.tsx";
import { projectsQuery } from "../../features/projects/queries.ts";

export const Route = createFileRoute("/_shell/projects/")({
  validateSearch: readProjectSearch,
  search: { middlewares: [stripSearchParams(PROJECT_SEARCH)] },
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchInfiniteQuery(projectsQuery({ ...PROJECT_SEARCH, ...search }))]),
  component: ProjectsPage,
});
