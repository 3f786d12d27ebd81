import { createFileRoute } from "@tanstack/react-router";

import { RulePage } from "../../features/rules/rule-page.tsx";

export const Route = createFileRoute("/_shell/rules/$ruleId")({ component: RulePage });
