import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/a/$server/crons")({ component: () => <Page title="Crons">{null}</Page> });
