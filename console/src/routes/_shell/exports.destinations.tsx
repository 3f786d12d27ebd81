import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/exports/destinations")({
  component: () => <Page title="Destinations">{null}</Page>,
});
