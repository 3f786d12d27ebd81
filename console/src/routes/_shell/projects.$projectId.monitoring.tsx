import { createFileRoute } from "@tanstack/react-router";

import { MonitoringPage } from "../../features/monitoring/monitoring-page.tsx";
import { readMonitoringSearch } from "../../features/monitoring/monitoring-search.ts";

export const Route = createFileRoute("/_shell/projects/$projectId/monitoring")({
  component: MonitoringPage,
  validateSearch: readMonitoringSearch,
});
