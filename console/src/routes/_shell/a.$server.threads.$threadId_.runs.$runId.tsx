import { createFileRoute } from "@tanstack/react-router";

import { RunPage } from "../../features/thread-run/run-page.tsx";

export const Route = createFileRoute("/_shell/a/$server/threads/$threadId_/runs/$runId")({ component: RunPage });
