import { createFileRoute } from "@tanstack/react-router";

import { ReviewPage } from "../../features/annotation-queues/review-page.tsx";

export const Route = createFileRoute("/_shell/annotation-queues/$queueId/review")({ component: ReviewPage });
