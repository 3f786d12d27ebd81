import { createFileRoute } from "@tanstack/react-router";

import { QueuesPage } from "../../features/annotation-queues/queues-page.tsx";

export const Route = createFileRoute("/_shell/annotation-queues/")({ component: QueuesPage });
