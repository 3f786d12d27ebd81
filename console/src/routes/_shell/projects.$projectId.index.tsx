import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/projects/$projectId/")({
  component: () => <Page title="Project">{null}</Page>,
});
