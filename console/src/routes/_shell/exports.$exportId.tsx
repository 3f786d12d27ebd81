import { createFileRoute } from "@tanstack/react-router";

import { exportQuery } from "../../features/exports/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { ExportPage } from "../../features/exports/export-page.tsx";

export const Route = createFileRoute("/_shell/exports/$exportId")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(exportQuery(params.exportId))]),
  component: ExportPage,
});
