import { createFileRoute } from "@tanstack/react-router";

import { AssistantPage } from "../../features/assistants/assistant-page.tsx";
import { ASSISTANT_TABS, type AssistantTab } from "../../features/assistants/tabs.ts";
import { pickAllowed } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/a/$server/assistants/$assistantId")({
  component: AssistantPage,
  validateSearch: (search: Record<string, unknown>): { tab?: AssistantTab | undefined } => ({
    tab: pickAllowed(ASSISTANT_TABS, search["tab"]),
  }),
});
