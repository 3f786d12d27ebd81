import { createFileRoute } from "@tanstack/react-router";

import { readDashboardSearch } from "../../features/dashboards/dashboard-search.ts";
import { DeploymentDashboardPage } from "../../features/dashboards/deployment-dashboard-page.tsx";

export const Route = createFileRoute("/_shell/deployments/$deploymentId_/dashboard")({
  component: DeploymentDashboardPage,
  validateSearch: readDashboardSearch,
});
