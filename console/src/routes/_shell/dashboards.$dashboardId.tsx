import { createFileRoute } from "@tanstack/react-router";

import { DashboardPage } from "../../features/dashboards/dashboard-page.tsx";
import { readDashboardSearch } from "../../features/dashboards/dashboard-search.ts";

export const Route = createFileRoute("/_shell/dashboards/$dashboardId")({
  component: DashboardPage,
  validateSearch: readDashboardSearch,
});
