import { createFileRoute, redirect } from "@tanstack/react-router";

/** URL printed by LangSmith's clients, for a prompt of the own workspace. */
export const Route = createFileRoute("/_shell/prompts/$repo")({
  beforeLoad({ params: { repo } }) {
    throw redirect({ to: "/prompts/$owner/$repo", params: { owner: "-", repo }, replace: true });
  },
});
