import { createFileRoute } from "@tanstack/react-router";

import { budgetQuery } from "../../features/budgets/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { BudgetPage } from "../../features/budgets/budget-page.tsx";
import { optionalMonth } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/budgets/$budgetId")({
  component: BudgetPage,
  validateSearch: (search: Record<string, unknown>): { month?: string | undefined } => ({
    month: optionalMonth(search["month"]),
  }),
  beforeLoad: ({ params, search, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(budgetQuery(params.budgetId, search.month))]),
});
