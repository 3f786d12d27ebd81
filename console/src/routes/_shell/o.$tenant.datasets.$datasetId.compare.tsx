import { createFileRoute, redirect } from "@tanstack/react-router";

/** An address that LangSmith's clients print (contract trace-platform §8). */
export const Route = createFileRoute("/_shell/o/$tenant/datasets/$datasetId/compare")({
  beforeLoad: ({ params: { datasetId } }) => {
    throw redirect({ to: "/datasets/$datasetId", params: { datasetId }, replace: true });
  },
});
