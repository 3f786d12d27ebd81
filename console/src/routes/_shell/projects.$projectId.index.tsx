import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { ProjectPage } from "../../features/runs/project-page.tsx";
import { readRunSearch, RUN_SEARCH } from "../../features/runs/run-search.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/")({
  validateSearch: readRunSearch,
  search: { middlewares: [stripSearchParams(RUN_SEARCH)] },
  component: ProjectPage,
});
