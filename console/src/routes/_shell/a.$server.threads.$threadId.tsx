import { createFileRoute } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { threadQuery } from "../../features/threads/queries.ts";
import { readThreadSearch } from "../../features/threads/read-thread-search.ts";
import { ThreadPage } from "../../features/threads/thread-page.tsx";

export const Route = createFileRoute("/_shell/a/$server/threads/$threadId")({
  validateSearch: readThreadSearch,
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(threadQuery(params.server, params.threadId))]),
  component: ThreadPage,
});
