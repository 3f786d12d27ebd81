import { createFileRoute } from "@tanstack/react-router";

import { AssistantList } from "../../features/assistants/assistant-list.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/a/$server/assistants/")({
  component: AssistantList,
  validateSearch: (search: Record<string, unknown>): { name?: string | undefined; graph?: string | undefined } => ({
    name: optionalText(search["name"]),
    graph: optionalText(search["graph"]),
  }),
});
