import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/exports/$exportId")({
  component: () => <Page title="Export">{null}</Page>,
});
