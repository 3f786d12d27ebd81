import { createFileRoute } from "@tanstack/react-router";

import { CronsPage } from "../../features/crons/crons-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/a/$server/crons")({
  component: CronsPage,
  validateSearch: (search: Record<string, unknown>): { enabled?: boolean | undefined; cron?: string | undefined } => ({
    enabled: typeof search["enabled"] === "boolean" ? search["enabled"] : undefined,
    cron: optionalText(search["cron"]),
  }),
});
