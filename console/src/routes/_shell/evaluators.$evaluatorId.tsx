import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { EvaluatorPage } from "../../features/evaluators/evaluator-page.tsx";
import { readEvaluatorSearch } from "../../features/evaluators/evaluator-search.ts";

export const Route = createFileRoute("/_shell/evaluators/$evaluatorId")({
  validateSearch: readEvaluatorSearch,
  search: { middlewares: [stripSearchParams({ tab: "edit" as const })] },
  component: EvaluatorPage,
});
