import { createFileRoute } from "@tanstack/react-router";

import { DeploymentPage } from "../../features/deployments/deployment-page.tsx";
import { DEPLOYMENT_TABS, type DeploymentTab, LOG_KINDS, type LogKind } from "../../features/deployments/tabs.ts";
import { pickAllowed, optionalText } from "../../ui/search-params.ts";

interface DeploymentSearch {
  tab?: DeploymentTab | undefined;
  revision?: string | undefined;
  log?: LogKind | undefined;
}

export const Route = createFileRoute("/_shell/deployments/$deploymentId")({
  component: DeploymentPage,
  validateSearch: (search: Record<string, unknown>): DeploymentSearch => ({
    tab: pickAllowed(DEPLOYMENT_TABS, search["tab"]),
    revision: optionalText(search["revision"]),
    log: pickAllowed(LOG_KINDS, search["log"]),
  }),
});
