import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/a/$server/threads/")({
  component: () => <Page title="Threads">{null}</Page>,
});
