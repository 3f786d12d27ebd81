import { createFileRoute, redirect } from "@tanstack/react-router";

import { experimentIds } from "../../features/datasets/dataset-search.ts";

/** URL printed by LangSmith's clients (contract trace-platform §8). */
export const Route = createFileRoute("/_shell/o/$tenant/datasets/$datasetId/compare")({
  validateSearch: ({ selectedSessions }: { selectedSessions?: unknown }): { selectedSessions?: string } => ({
    selectedSessions: experimentIds(selectedSessions).join(","),
  }),
  beforeLoad: ({ params: { datasetId }, search: { selectedSessions = "" } }) => {
    throw redirect({
      to: "/datasets/$datasetId",
      params: { datasetId },
      search: { tab: "compare", selectedSessions },
      replace: true,
    });
  },
});
