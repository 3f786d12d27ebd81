import { createFileRoute } from "@tanstack/react-router";

import { readDashboardSearch } from "../../features/dashboards/dashboard-search.ts";
import { ProjectDashboardPage } from "../../features/dashboards/project-dashboard-page.tsx";

export const Route = createFileRoute("/_shell/projects/$projectId/dashboard")({
  component: ProjectDashboardPage,
  validateSearch: readDashboardSearch,
});
