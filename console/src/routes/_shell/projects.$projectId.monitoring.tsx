import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/projects/$projectId/monitoring")({
  component: () => <Page title="Monitoring">{null}</Page>,
});
