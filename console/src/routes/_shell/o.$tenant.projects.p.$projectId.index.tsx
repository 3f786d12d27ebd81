import { createFileRoute, redirect } from "@tanstack/react-router";

/** An address that LangSmith's clients print (contract trace-platform §8). */
export const Route = createFileRoute("/_shell/o/$tenant/projects/p/$projectId/")({
  beforeLoad: ({ params: { projectId } }) => {
    throw redirect({ to: "/projects/$projectId", params: { projectId }, replace: true });
  },
});
