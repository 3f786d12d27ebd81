import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/projects/")({ component: () => <Page title="Traces">{null}</Page> });
