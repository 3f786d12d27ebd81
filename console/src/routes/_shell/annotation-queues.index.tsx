import { createFileRoute } from "@tanstack/react-router";

import { queuesQuery } from "../../features/annotation-queues/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { QueuesPage } from "../../features/annotation-queues/queues-page.tsx";

export const Route = createFileRoute("/_shell/annotation-queues/")({
  beforeLoad: (opening) => startQueries(opening, (client) => [client.prefetchInfiniteQuery(queuesQuery(""))]),
  component: QueuesPage,
});
