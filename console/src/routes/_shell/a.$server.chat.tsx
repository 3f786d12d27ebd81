import { createFileRoute } from "@tanstack/react-router";

import { ChatPage } from "../../features/chat/chat-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/a/$server/chat")({
  component: ChatPage,
  validateSearch: (
    search: Record<string, unknown>,
  ): { assistant?: string | undefined; thread?: string | undefined } => ({
    assistant: optionalText(search["assistant"]),
    thread: optionalText(search["thread"]),
  }),
});
