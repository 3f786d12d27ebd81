import type { QueryClient } from "@tanstack/react-query";

import { assistantsQuery, drawingQuery, historyQuery, schemasQuery, threadQuery } from "../threads/queries.ts";
import { chooseAssistant } from "./choose-assistant.ts";
import type { PlaygroundSearch } from "./read-place.ts";

export const loadWorkbench = () => import("./workbench.tsx");
export const loadSideBySide = async () => (await import("./side-by-side.tsx")).SideBySide;

/**
 * Prefetches the playground's data while its code is loading. The page repeats failed requests, and shows their errors.
 */
export function prefetchPlayground(queryClient: QueryClient, server: string, place: PlaygroundSearch): void {
  void loadWorkbench().catch(() => {});
  void prefetchData(queryClient, server, place).catch(() => {});
}

async function prefetchData(
  queryClient: QueryClient,
  server: string,
  { assistant: named, thread: id }: PlaygroundSearch,
) {
  if (id !== undefined) void queryClient.prefetchQuery(historyQuery(server, id));
  const [assistants, thread] = await Promise.all([
    queryClient.fetchQuery(assistantsQuery(server)),
    id === undefined ? undefined : queryClient.fetchQuery(threadQuery(server, id)),
  ]);
  const assistant = chooseAssistant(assistants, named, thread);
  if (!assistant) return;
  await Promise.all([
    queryClient.prefetchQuery(schemasQuery(server, assistant.assistant_id)),
    queryClient.prefetchQuery(drawingQuery(server, assistant.assistant_id)),
  ]);
}
