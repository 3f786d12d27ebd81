import { createFileRoute } from "@tanstack/react-router";

import { workspacesQuery } from "../../app/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { organizationQuery } from "../../features/settings/queries.ts";
import { SettingsPage } from "../../features/settings/settings-page.tsx";
import { SETTINGS_TABS, type SettingsTab } from "../../features/settings/tabs.ts";
import { pickAllowed, optionalText, wholeNumber } from "../../ui/search-params.ts";

interface SettingsSearch {
  tab?: SettingsTab | undefined;
  /** Filters of the audit log, starting with its range in days. */
  days?: number | undefined;
  operation?: string | undefined;
  actor?: string | undefined;
  target?: string | undefined;
}

export const Route = createFileRoute("/_shell/settings")({
  component: SettingsPage,
  validateSearch: (search: Record<string, unknown>): SettingsSearch => {
    const days = wholeNumber(search["days"]);
    return {
      tab: pickAllowed(SETTINGS_TABS, search["tab"]),
      days: days !== undefined && days > 0 && days <= 3650 ? days : undefined,
      operation: optionalText(search["operation"]),
      actor: optionalText(search["actor"]),
      target: optionalText(search["target"]),
    };
  },
  beforeLoad: ({ search: { tab = "workspaces" }, ...opening }) =>
    startQueries(opening, (client) => [
      client.prefetchQuery(workspacesQuery),
      tab === "workspaces" && client.prefetchQuery(organizationQuery),
    ]),
});
