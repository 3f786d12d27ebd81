import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";

import type { ChartMarker } from "../../ui/chart-props.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { monitoringRange } from "../monitoring/monitoring-search.ts";
import type { DashboardSearch } from "./dashboard-search.ts";
import { DashboardView } from "./dashboard-view.tsx";
import { changesQuery, cloneDashboard, type PrebuiltSource } from "./queries.ts";
import { WorsePanel } from "./worse-panel.tsx";

interface PrebuiltDashboardProps {
  source: PrebuiltSource;
  title: string;
  search: DashboardSearch;
  onSearch: (search: DashboardSearch) => void;
  /** Marked beside what is new in the traces. */
  events?: readonly ChartMarker[] | undefined;
  actions?: ReactNode;
}

/** A dashboard that a project or a deployment has, with what got worse. */
export function PrebuiltDashboard({ source, title, search, onSearch, events, actions }: PrebuiltDashboardProps) {
  const { projectId } = source;
  const navigate = useNavigate();
  const client = useQueryClient();
  const denial = usePermission("charts:create");
  const { data: found } = useQuery(changesQuery(projectId, monitoringRange(search)));
  const marks = useMemo(
    () => [
      ...(events ?? []),
      ...(found?.events.map(({ dimension, value, first_seen: at }) => ({
        time: Date.parse(at) / 1000,
        label: `new ${dimension.replace("_", " ")} ${value.slice(0, 40)}`,
      })) ?? []),
    ],
    [events, found],
  );
  const clone = useMutation({
    mutationFn: () => cloneDashboard(source),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ["dashboards"] });
      await navigate({ to: "/dashboards/$dashboardId", params: { dashboardId: id } });
    },
    onError: notifyFailure("Could not copy the dashboard"),
  });
  return (
    <DashboardView
      source={source}
      title={title}
      search={search}
      events={marks}
      onSearch={onSearch}
      actions={
        <>
          <PermittedButton
            denial={denial}
            size="xs"
            variant="default"
            loading={clone.isPending}
            onClick={() => clone.mutate()}
          >
            Copy to edit
          </PermittedButton>
          <ButtonLink to="/projects/$projectId" params={{ projectId }} variant="default" size="xs">
            Runs
          </ButtonLink>
          {actions}
        </>
      }
    >
      {(range) => <WorsePanel projectId={projectId} range={range} />}
    </DashboardView>
  );
}
