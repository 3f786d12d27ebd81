import { createFileRoute } from "@tanstack/react-router";

import { queueQuery } from "../../features/queue/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { QueuePage } from "../../features/queue/queue-page.tsx";

export const Route = createFileRoute("/_shell/a/$server/queue")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(queueQuery(params.server))]),
  component: QueuePage,
});
