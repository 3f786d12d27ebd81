import { createFileRoute } from "@tanstack/react-router";

import { ComponentsPage } from "../../features/components/components-page.tsx";

export const Route = createFileRoute("/_shell/components")({ component: ComponentsPage });
