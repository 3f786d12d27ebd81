import { createFileRoute } from "@tanstack/react-router";

import { ExportsPage } from "../../features/exports/exports-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/exports/")({
  component: ExportsPage,
  validateSearch: (given: Record<string, unknown>): { create?: true; project?: string | undefined } => ({
    ...(given["create"] === true && { create: true }),
    ...(given["project"] !== undefined && { project: optionalText(given["project"]) }),
  }),
});
