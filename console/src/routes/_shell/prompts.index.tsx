import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { promptsQuery } from "../../features/prompts/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { PROMPT_SEARCH, readPromptSearch } from "../../features/prompts/prompt-search.ts";
import { PromptsPage } from "../../features/prompts/prompts-page.tsx";

export const Route = createFileRoute("/_shell/prompts/")({
  validateSearch: readPromptSearch,
  search: { middlewares: [stripSearchParams(PROMPT_SEARCH)] },
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchInfiniteQuery(promptsQuery({ ...PROMPT_SEARCH, ...search }))]),
  component: PromptsPage,
});
