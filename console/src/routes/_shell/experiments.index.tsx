import { createFileRoute } from "@tanstack/react-router";

import { ExperimentsPage } from "../../features/experiment-runs/experiments-page.tsx";

export const Route = createFileRoute("/_shell/experiments/")({ component: ExperimentsPage });
