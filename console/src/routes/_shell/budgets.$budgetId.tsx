import { createFileRoute } from "@tanstack/react-router";

import { BudgetPage } from "../../features/budgets/budget-page.tsx";
import { optionalMonth } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/budgets/$budgetId")({
  component: BudgetPage,
  validateSearch: (search: Record<string, unknown>): { month?: string | undefined } => ({
    month: optionalMonth(search["month"]),
  }),
});
