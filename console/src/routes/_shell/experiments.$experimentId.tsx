import { createFileRoute } from "@tanstack/react-router";

import { jobQuery } from "../../features/experiment-runs/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { ExperimentPage } from "../../features/experiment-runs/experiment-page.tsx";

export const Route = createFileRoute("/_shell/experiments/$experimentId")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(jobQuery(params.experimentId))]),
  component: ExperimentPage,
});
