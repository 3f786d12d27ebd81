import { createFileRoute, redirect } from "@tanstack/react-router";

/** URL printed by LangSmith's clients (contract trace-platform §8). */
export const Route = createFileRoute("/_shell/o/$tenant/projects/p/$projectId/")({
  beforeLoad: ({ params: { projectId } }) => {
    throw redirect({ to: "/projects/$projectId", params: { projectId }, replace: true });
  },
});
