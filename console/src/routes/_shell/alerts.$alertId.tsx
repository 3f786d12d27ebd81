import { createFileRoute } from "@tanstack/react-router";

import { alertQuery } from "../../features/alerts/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { AlertPage } from "../../features/alerts/alert-page.tsx";

export const Route = createFileRoute("/_shell/alerts/$alertId")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(alertQuery(params.alertId))]),
  component: AlertPage,
});
