import { createFileRoute } from "@tanstack/react-router";

import { AlertPage } from "../../features/alerts/alert-page.tsx";

export const Route = createFileRoute("/_shell/alerts/$alertId")({ component: AlertPage });
