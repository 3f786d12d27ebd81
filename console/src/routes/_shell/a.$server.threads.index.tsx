import { createFileRoute } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { assistantsQuery, threadCountsQuery, threadListQuery } from "../../features/threads/queries.ts";
import { readThreadListSearch } from "../../features/threads/read-thread-search.ts";
import { ThreadList } from "../../features/threads/thread-list.tsx";

export const Route = createFileRoute("/_shell/a/$server/threads/")({
  validateSearch: readThreadListSearch,
  beforeLoad: ({ params, search, ...opening }) =>
    startQueries(opening, (client) => [
      client.prefetchQuery(threadListQuery(params.server, search)),
      client.prefetchQuery(threadCountsQuery(params.server, search)),
      client.prefetchQuery(assistantsQuery(params.server)),
    ]),
  component: ThreadList,
});
