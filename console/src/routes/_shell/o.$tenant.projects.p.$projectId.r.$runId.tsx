import { createFileRoute, redirect } from "@tanstack/react-router";

import { readTraceSearch } from "../../features/traces/trace-search.ts";

/** URL printed by LangSmith's clients (contract trace-platform §8). */
export const Route = createFileRoute("/_shell/o/$tenant/projects/p/$projectId/r/$runId")({
  validateSearch: readTraceSearch,
  beforeLoad: ({ params: { projectId, runId }, search }) => {
    throw redirect({ to: "/projects/$projectId/r/$runId", params: { projectId, runId }, search, replace: true });
  },
});
