import { createFileRoute } from "@tanstack/react-router";

import { QueuePage } from "../../features/annotation-queues/queue-page.tsx";

export const Route = createFileRoute("/_shell/annotation-queues/$queueId/")({ component: QueuePage });
