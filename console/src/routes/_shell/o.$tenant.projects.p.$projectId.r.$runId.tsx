import { createFileRoute, redirect } from "@tanstack/react-router";

/** An address that LangSmith's clients print (contract trace-platform §8). */
export const Route = createFileRoute("/_shell/o/$tenant/projects/p/$projectId/r/$runId")({
  beforeLoad: ({ params: { projectId, runId } }) => {
    throw redirect({ to: "/projects/$projectId/r/$runId", params: { projectId, runId }, replace: true });
  },
});
