import { createFileRoute } from "@tanstack/react-router";

import { DestinationsPage } from "../../features/exports/destinations-page.tsx";

export const Route = createFileRoute("/_shell/exports/destinations")({
  component: DestinationsPage,
  validateSearch: (given: Record<string, unknown>): { create?: true } =>
    given["create"] === true ? { create: true } : {},
});
