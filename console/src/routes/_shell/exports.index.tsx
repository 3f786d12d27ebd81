import { createFileRoute } from "@tanstack/react-router";

import { exportsQuery, destinationsQuery } from "../../features/exports/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { ExportsPage } from "../../features/exports/exports-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/exports/")({
  beforeLoad: (opening) =>
    startQueries(opening, (client) => [client.prefetchQuery(exportsQuery), client.prefetchQuery(destinationsQuery)]),
  component: ExportsPage,
  validateSearch: (search: Record<string, unknown>): { create?: true; project?: string | undefined } => ({
    ...(search["create"] === true && { create: true }),
    ...(search["project"] !== undefined && { project: optionalText(search["project"]) }),
  }),
});
