import { createFileRoute } from "@tanstack/react-router";

import { ExperimentPage } from "../../features/experiment-runs/experiment-page.tsx";

export const Route = createFileRoute("/_shell/experiments/$experimentId")({ component: ExperimentPage });
