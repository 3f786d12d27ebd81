import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/exports/")({ component: () => <Page title="Exports">{null}</Page> });
