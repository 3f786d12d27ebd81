import { createFileRoute } from "@tanstack/react-router";

import { assistantQuery } from "../../features/assistants/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { AssistantPage } from "../../features/assistants/assistant-page.tsx";
import { ASSISTANT_TABS, type AssistantTab } from "../../features/assistants/tabs.ts";
import { pickAllowed } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/a/$server/assistants/$assistantId")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(assistantQuery(params.server, params.assistantId))]),
  component: AssistantPage,
  validateSearch: (search: Record<string, unknown>): { tab?: AssistantTab | undefined } => ({
    tab: pickAllowed(ASSISTANT_TABS, search["tab"]),
  }),
});
