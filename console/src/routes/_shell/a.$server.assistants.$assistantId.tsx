import { createFileRoute } from "@tanstack/react-router";

import { AssistantPage } from "../../features/assistants/assistant-page.tsx";
import { ASSISTANT_TABS, type AssistantTab } from "../../features/assistants/tabs.ts";
import { oneOf } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/a/$server/assistants/$assistantId")({
  component: AssistantPage,
  validateSearch: (search: Record<string, unknown>): { tab?: AssistantTab | undefined } => ({
    tab: oneOf(ASSISTANT_TABS, search["tab"]),
  }),
});
