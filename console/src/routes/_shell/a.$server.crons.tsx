import { createFileRoute } from "@tanstack/react-router";

import { cronsQuery } from "../../features/crons/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { CronsPage } from "../../features/crons/crons-page.tsx";
import { optionalText } from "../../ui/search-params.ts";

export const Route = createFileRoute("/_shell/a/$server/crons")({
  component: CronsPage,
  validateSearch: (search: Record<string, unknown>): { enabled?: boolean | undefined; cron?: string | undefined } => ({
    enabled: typeof search["enabled"] === "boolean" ? search["enabled"] : undefined,
    cron: optionalText(search["cron"]),
  }),
  beforeLoad: ({ params, search, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchInfiniteQuery(cronsQuery(params.server, search.enabled))]),
});
