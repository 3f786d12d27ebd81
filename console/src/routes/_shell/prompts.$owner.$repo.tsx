import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";

import { ONE_PROMPT_SEARCH, type OnePromptSearch, readOnePromptSearch } from "../../features/prompts/prompt-search.ts";
import { PromptPage } from "../../features/prompts/prompt-page.tsx";

/** The clients print `/prompts/<name>/<hash>?organizationId=…` after a push; this parameter marks such an address. */
type Search = Partial<OnePromptSearch> & { organizationId?: string | undefined };

export const Route = createFileRoute("/_shell/prompts/$owner/$repo")({
  validateSearch: (search: Record<string, unknown>): Search => ({
    ...readOnePromptSearch(search),
    organizationId: typeof search["organizationId"] === "string" ? search["organizationId"] : undefined,
  }),
  search: { middlewares: [stripSearchParams(ONE_PROMPT_SEARCH)] },
  beforeLoad({ params: { owner, repo }, search: { organizationId } }) {
    if (organizationId === undefined) return;
    throw redirect({
      to: "/prompts/$owner/$repo",
      params: { owner: "-", repo: owner },
      search: { commit: repo },
      replace: true,
    });
  },
  component: PromptPage,
});
