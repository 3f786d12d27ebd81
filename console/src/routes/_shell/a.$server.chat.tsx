import { createFileRoute } from "@tanstack/react-router";

import { ChatPage } from "../../features/playground/chat-page.tsx";
import { readPlace } from "../../features/playground/read-place.ts";
import { prefetchPlayground } from "../../features/playground/prefetch.ts";

export const Route = createFileRoute("/_shell/a/$server/chat")({
  validateSearch(search: Record<string, unknown>) {
    const { assistant, thread } = readPlace(search);
    return { ...(assistant !== undefined && { assistant }), ...(thread !== undefined && { thread }) };
  },
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => prefetchPlayground(context.queryClient, params.server, deps),
  component: ChatPage,
});
