import { createFileRoute } from "@tanstack/react-router";

import { RulesPage } from "../../features/rules/rules-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/rules/")({
  component: RulesPage,
  validateSearch: (search: Record<string, unknown>): { project?: string | undefined } => ({
    project: optionalText(search["project"]),
  }),
});
