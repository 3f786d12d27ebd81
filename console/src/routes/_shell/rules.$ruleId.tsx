import { createFileRoute } from "@tanstack/react-router";

import { ruleQuery } from "../../features/rules/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { RulePage } from "../../features/rules/rule-page.tsx";

export const Route = createFileRoute("/_shell/rules/$ruleId")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(ruleQuery(params.ruleId))]),
  component: RulePage,
});
