import { createFileRoute } from "@tanstack/react-router";

import { readPlaySearch } from "../../features/prompt-playground/play-search.ts";
import { PromptPlaygroundPage } from "../../features/prompt-playground/prompt-playground-page.tsx";

export const Route = createFileRoute("/_shell/playground")({
  validateSearch: readPlaySearch,
  component: PromptPlaygroundPage,
});
