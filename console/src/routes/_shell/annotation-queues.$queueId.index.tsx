import { createFileRoute } from "@tanstack/react-router";

import { queueQuery, queueProgressQuery, queueItemsQuery } from "../../features/annotation-queues/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { QueuePage } from "../../features/annotation-queues/queue-page.tsx";

export const Route = createFileRoute("/_shell/annotation-queues/$queueId/")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [
      client.prefetchQuery(queueQuery(params.queueId)),
      client.prefetchQuery(queueProgressQuery(params.queueId)),
      client.prefetchInfiniteQuery(queueItemsQuery(params.queueId)),
    ]),
  component: QueuePage,
});
