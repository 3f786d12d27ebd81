import { createFileRoute } from "@tanstack/react-router";

import { alertsQuery } from "../../features/alerts/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { AlertsPage } from "../../features/alerts/alerts-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/alerts/")({
  component: AlertsPage,
  validateSearch: (search: Record<string, unknown>): { project?: string | undefined } => ({
    project: optionalText(search["project"]),
  }),
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(alertsQuery(search.project))]),
});
