import { createFileRoute } from "@tanstack/react-router";

import { DeploymentList } from "../../features/deployments/deployment-list.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/deployments/")({
  component: DeploymentList,
  validateSearch: (search: Record<string, unknown>): { name?: string | undefined; create?: boolean | undefined } => ({
    name: optionalText(search["name"]),
    create: search["create"] === true ? true : undefined,
  }),
});
