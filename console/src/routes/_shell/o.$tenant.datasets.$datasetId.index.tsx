import { createFileRoute, redirect } from "@tanstack/react-router";

/** URL printed by LangSmith's clients (contract trace-platform §8). */
export const Route = createFileRoute("/_shell/o/$tenant/datasets/$datasetId/")({
  beforeLoad: ({ params: { datasetId } }) => {
    throw redirect({ to: "/datasets/$datasetId", params: { datasetId }, replace: true });
  },
});
