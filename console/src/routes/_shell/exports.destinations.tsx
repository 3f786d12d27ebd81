import { createFileRoute } from "@tanstack/react-router";

import { DestinationsPage } from "../../features/exports/destinations-page.tsx";

export const Route = createFileRoute("/_shell/exports/destinations")({
  component: DestinationsPage,
  validateSearch: (search: Record<string, unknown>): { create?: true } =>
    search["create"] === true ? { create: true } : {},
});
