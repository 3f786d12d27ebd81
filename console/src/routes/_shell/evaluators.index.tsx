import { createFileRoute } from "@tanstack/react-router";

import { evaluatorsQuery } from "../../features/evaluators/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { EvaluatorsPage } from "../../features/evaluators/evaluators-page.tsx";

export const Route = createFileRoute("/_shell/evaluators/")({
  beforeLoad: (opening) => startQueries(opening, (client) => [client.prefetchInfiniteQuery(evaluatorsQuery(""))]),
  component: EvaluatorsPage,
});
