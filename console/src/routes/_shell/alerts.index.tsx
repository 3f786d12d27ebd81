import { createFileRoute } from "@tanstack/react-router";

import { AlertsPage } from "../../features/alerts/alerts-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/alerts/")({
  component: AlertsPage,
  validateSearch: (search: Record<string, unknown>): { project?: string | undefined } => ({
    project: optionalText(search["project"]),
  }),
});
