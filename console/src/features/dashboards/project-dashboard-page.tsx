import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";

import { ButtonLink } from "../../ui/links.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { projectQuery } from "../projects/queries.ts";
import { usePermission } from "../settings/use-permission.ts";
import { dashboardRange } from "./dashboard-search.ts";
import { DashboardView } from "./dashboard-view.tsx";
import { changesQuery, cloneDashboard } from "./queries.ts";
import { WorsePanel } from "./worse-panel.tsx";

const route = getRouteApi("/_shell/projects/$projectId/dashboard");

/** The dashboard that every project has, with what got worse. */
export function ProjectDashboardPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const update = route.useNavigate();
  const navigate = useNavigate();
  const client = useQueryClient();
  const denial = usePermission("charts:create");
  const { data: project } = useQuery(projectQuery(projectId));
  const { data: found } = useQuery(changesQuery(projectId, dashboardRange(search)));
  const events = useMemo(
    () =>
      found?.events.map(({ dimension, value, first_seen: at }) => ({
        time: Date.parse(at) / 1000,
        label: `new ${dimension.replace("_", " ")} ${value.slice(0, 40)}`,
      })),
    [found],
  );
  const clone = useMutation({
    mutationFn: () => cloneDashboard({ projectId }),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ["dashboards"] });
      await navigate({ to: "/dashboards/$dashboardId", params: { dashboardId: id } });
    },
    onError: notifyFailure("Could not copy the dashboard"),
  });
  return (
    <DashboardView
      source={{ projectId }}
      title={project ? `${project.name} dashboard` : "Dashboard"}
      search={search}
      events={events}
      onSearch={(next) => void update({ search: next, replace: true })}
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
        </>
      }
    >
      {(range) => <WorsePanel projectId={projectId} range={range} />}
    </DashboardView>
  );
}
