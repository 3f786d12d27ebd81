import { createFileRoute } from "@tanstack/react-router";

import { QueuePage } from "../../features/queue/queue-page.tsx";

export const Route = createFileRoute("/_shell/a/$server/queue")({ component: QueuePage });
