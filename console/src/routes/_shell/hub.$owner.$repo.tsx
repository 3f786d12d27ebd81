import { createFileRoute, redirect } from "@tanstack/react-router";

/** URL printed by LangSmith's clients, for a prompt of another workspace: `/hub/<owner>/<name>:<hash>`. */
export const Route = createFileRoute("/_shell/hub/$owner/$repo")({
  beforeLoad({ params: { owner, repo: text } }) {
    const [repo, commit = ""] = text.split(":") as [string, string?];
    throw redirect({ to: "/prompts/$owner/$repo", params: { owner, repo }, search: { commit }, replace: true });
  },
});
