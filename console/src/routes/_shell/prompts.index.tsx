import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { PROMPT_SEARCH, readPromptSearch } from "../../features/prompts/prompt-search.ts";
import { PromptsPage } from "../../features/prompts/prompts-page.tsx";

export const Route = createFileRoute("/_shell/prompts/")({
  validateSearch: readPromptSearch,
  search: { middlewares: [stripSearchParams(PROMPT_SEARCH)] },
  component: PromptsPage,
});
