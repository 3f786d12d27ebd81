import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/a/$server/webhooks")({
  component: () => <Page title="Webhooks">{null}</Page>,
});
