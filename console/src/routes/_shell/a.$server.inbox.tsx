import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/a/$server/inbox")({
  component: () => <Page title="Waiting for a human">{null}</Page>,
});
