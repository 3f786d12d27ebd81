import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { ReviewListPage } from "../../features/annotation-queues/review-list-page.tsx";
import { readRunSearch, RUN_SEARCH } from "../../features/runs/run-search.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/review")({
  validateSearch: readRunSearch,
  search: { middlewares: [stripSearchParams(RUN_SEARCH)] },
  component: ReviewListPage,
});
