import { createFileRoute } from "@tanstack/react-router";

import { PairsPage } from "../../features/experiments/pairs-page.tsx";

export const Route = createFileRoute("/_shell/datasets/$datasetId_/pairs/$comparisonId")({ component: PairsPage });
