import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/settings")({ component: () => <Page title="Settings">{null}</Page> });
