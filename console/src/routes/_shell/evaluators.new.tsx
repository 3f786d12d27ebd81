import { createFileRoute } from "@tanstack/react-router";

import { NewEvaluatorPage } from "../../features/evaluators/new-evaluator-page.tsx";

export const Route = createFileRoute("/_shell/evaluators/new")({ component: NewEvaluatorPage });
