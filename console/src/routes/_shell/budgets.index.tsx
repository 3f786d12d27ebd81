import { createFileRoute } from "@tanstack/react-router";

import { BudgetsPage } from "../../features/budgets/budgets-page.tsx";
import { optionalMonth } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/budgets/")({
  component: BudgetsPage,
  validateSearch: (search: Record<string, unknown>): { month?: string | undefined } => ({
    month: optionalMonth(search["month"]),
  }),
});
