import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";

import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { deploymentQuery, revisionsQuery } from "../deployments/queries.ts";
import { PrebuiltDashboard } from "./prebuilt-dashboard.tsx";
import { projectNamedQuery } from "./queries.ts";

const route = getRouteApi("/_shell/deployments/$deploymentId_/dashboard");

/** The dashboard that every deployment has: its agent servers, its revisions, and what got worse. */
export function DeploymentDashboardPage() {
  const { deploymentId } = route.useParams();
  const search = route.useSearch();
  const update = route.useNavigate();
  const { data: deployment, error, refetch } = useQuery(deploymentQuery(deploymentId));
  const { data: revisions } = useQuery(revisionsQuery(deploymentId));
  const project = useQuery({ ...projectNamedQuery(deployment?.name ?? ""), enabled: deployment !== undefined });
  const deploys = useMemo(
    () =>
      revisions?.map(({ id, created_at: at }) => ({
        time: Date.parse(at) / 1000,
        label: `revision ${id} created`,
      })),
    [revisions],
  );
  const title = deployment ? `${deployment.display_name ?? deployment.name} dashboard` : "Dashboard";
  const back = (
    <ButtonLink to="/deployments/$deploymentId" params={{ deploymentId }} variant="default" size="xs">
      Deployment
    </ButtonLink>
  );
  if (!project.data) {
    return (
      <Page title={title} actions={back}>
        {project.data === null ? (
          <Text>No data yet. The dashboard appears with the first run of the deployment.</Text>
        ) : (
          <LoadState query={[{ data: deployment, error, refetch }, project]} />
        )}
      </Page>
    );
  }
  return (
    <PrebuiltDashboard
      source={{ projectId: project.data.id, kind: "deployment" }}
      title={title}
      search={search}
      onSearch={(next) => void update({ search: next, replace: true })}
      events={deploys}
      actions={back}
    />
  );
}
