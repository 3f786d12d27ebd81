import { createFileRoute } from "@tanstack/react-router";

import { rulesQuery, ruleStatisticsQuery } from "../../features/rules/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { RulesPage } from "../../features/rules/rules-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/rules/")({
  component: RulesPage,
  validateSearch: (search: Record<string, unknown>): { project?: string | undefined } => ({
    project: optionalText(search["project"]),
  }),
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) => [
      client.prefetchQuery(rulesQuery(search.project)),
      client.prefetchQuery(ruleStatisticsQuery),
    ]),
});
