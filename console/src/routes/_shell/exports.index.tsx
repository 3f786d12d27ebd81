import { createFileRoute } from "@tanstack/react-router";

import { ExportsPage } from "../../features/exports/exports-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/exports/")({
  component: ExportsPage,
  validateSearch: (search: Record<string, unknown>): { create?: true; project?: string | undefined } => ({
    ...(search["create"] === true && { create: true }),
    ...(search["project"] !== undefined && { project: optionalText(search["project"]) }),
  }),
});
