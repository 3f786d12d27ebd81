import { createFileRoute } from "@tanstack/react-router";

import { deploymentsQuery } from "../../features/deployments/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { DeploymentList } from "../../features/deployments/deployment-list.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/deployments/")({
  component: DeploymentList,
  validateSearch: (search: Record<string, unknown>): { name?: string | undefined; create?: boolean | undefined } => ({
    name: optionalText(search["name"]),
    create: search["create"] === true ? true : undefined,
  }),
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchQuery(deploymentsQuery(search.name))]),
});
