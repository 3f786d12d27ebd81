import { createFileRoute } from "@tanstack/react-router";

import { deploymentQuery } from "../../features/deployments/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { DeploymentPage } from "../../features/deployments/deployment-page.tsx";
import { DEPLOYMENT_TABS, type DeploymentTab, LOG_KINDS, type LogKind } from "../../features/deployments/tabs.ts";
import { pickAllowed, optionalText } from "../../ui/search-params.ts";

interface DeploymentSearch {
  tab?: DeploymentTab | undefined;
  revision?: string | undefined;
  log?: LogKind | undefined;
}

export const Route = createFileRoute("/_shell/deployments/$deploymentId")({
  beforeLoad: ({ params, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(deploymentQuery(params.deploymentId))]),
  component: DeploymentPage,
  validateSearch: (search: Record<string, unknown>): DeploymentSearch => ({
    tab: pickAllowed(DEPLOYMENT_TABS, search["tab"]),
    revision: optionalText(search["revision"]),
    log: pickAllowed(LOG_KINDS, search["log"]),
  }),
});
