import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { PROJECT_SEARCH, readProjectSearch } from "../../features/projects/project-search.ts";
import { ProjectsPage } from "../../features/projects/projects-page.tsx";

export const Route = createFileRoute("/_shell/projects/")({
  validateSearch: readProjectSearch,
  search: { middlewares: [stripSearchParams(PROJECT_SEARCH)] },
  component: ProjectsPage,
});
