import { createFileRoute } from "@tanstack/react-router";

import { InsightsPage } from "../../features/insights/insights-page.tsx";
import { readInsightsSearch } from "../../features/insights/insights-search.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/insights")({
  component: InsightsPage,
  validateSearch: readInsightsSearch,
});
