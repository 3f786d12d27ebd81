import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/deployments/$deploymentId")({
  component: () => <Page title="Deployment">{null}</Page>,
});
