import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/compare")({ component: () => <Page title="Compare runs">{null}</Page> });
