import { createFileRoute } from "@tanstack/react-router";

import { destinationsQuery } from "../../features/exports/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { DestinationsPage } from "../../features/exports/destinations-page.tsx";

export const Route = createFileRoute("/_shell/exports/destinations")({
  beforeLoad: (opening) => startQueries(opening, (client) => [client.prefetchQuery(destinationsQuery)]),
  component: DestinationsPage,
  validateSearch: (search: Record<string, unknown>): { create?: true } =>
    search["create"] === true ? { create: true } : {},
});
