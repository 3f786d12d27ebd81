import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { TracePage } from "../../features/traces/trace-page.tsx";
import { readTraceSearch, TRACE_SEARCH } from "../../features/traces/trace-search.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/r/$runId")({
  validateSearch: readTraceSearch,
  search: { middlewares: [stripSearchParams(TRACE_SEARCH)] },
  component: TracePage,
});
