import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/a/$server/queue")({ component: () => <Page title="Queue">{null}</Page> });
