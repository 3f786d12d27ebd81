import { createFileRoute } from "@tanstack/react-router";

import { EvaluatorsPage } from "../../features/evaluators/evaluators-page.tsx";

export const Route = createFileRoute("/_shell/evaluators/")({ component: EvaluatorsPage });
