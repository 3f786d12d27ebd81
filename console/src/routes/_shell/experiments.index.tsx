import { createFileRoute } from "@tanstack/react-router";

import { jobsQuery } from "../../features/experiment-runs/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { ExperimentsPage } from "../../features/experiment-runs/experiments-page.tsx";

export const Route = createFileRoute("/_shell/experiments/")({
  beforeLoad: (opening) => startQueries(opening, (client) => [client.prefetchQuery(jobsQuery)]),
  component: ExperimentsPage,
});
