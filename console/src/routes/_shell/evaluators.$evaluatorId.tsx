import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { evaluatorQuery } from "../../features/evaluators/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { EvaluatorPage } from "../../features/evaluators/evaluator-page.tsx";
import { readEvaluatorSearch } from "../../features/evaluators/evaluator-search.ts";

export const Route = createFileRoute("/_shell/evaluators/$evaluatorId")({
  validateSearch: readEvaluatorSearch,
  search: { middlewares: [stripSearchParams({ tab: "edit" as const })] },
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(evaluatorQuery(params.evaluatorId))]),
  component: EvaluatorPage,
});
