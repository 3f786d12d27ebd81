import { Code, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { Empty } from "../../ui/empty.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge, statusWords } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { DeploymentAddress } from "./deployment-address.tsx";
import { NewDeployment } from "./new-deployment.tsx";
import { type Deployment, deploymentsQuery, SOURCE_NAMES } from "./queries.ts";
import { DeploySample } from "../samples/sample-parts.tsx";

const route = getRouteApi("/_shell/deployments/");

export function DeploymentList() {
  const { name, create = false } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(deploymentsQuery(name));
  const deployments = list.data ?? [];
  const search = (text: string) =>
    void navigate({ search: (before) => ({ ...before, name: text.trim() || undefined }), replace: true });
  const setCreating = (isOpen: boolean) =>
    void navigate({ search: (before) => ({ ...before, create: isOpen || undefined }) });
  return (
    <Page title="Deployments" actions={<NewButton onClick={() => setCreating(true)}>New deployment</NewButton>}>
      <Group mb="sm">
        <SearchField label="Search by name" placeholder="Search by name" initial={name ?? ""} onSearch={search} />
      </Group>
      <LoadedList
        query={list}
        list={deployments}
        empty={
          <Empty title={name === undefined ? "No deployments yet" : "No matching deployments"}>
            <Text size="sm">
              Create one with “New deployment”, or run <Code>heddle deploy</Code> in a project's folder.
            </Text>
            {name === undefined && <DeploySample />}
          </Empty>
        }
      >
        <SimpleTable
          label="Deployments"
          rows={deployments}
          rowKey={({ id }) => id}
          minWidth={820}
          columns={[
            {
              title: "Name",
              cell: (deployment) => (
                <AnchorLink to="/deployments/$deploymentId" params={{ deploymentId: deployment.id }} size="sm" fw={500}>
                  {deployment.display_name ?? deployment.name}
                </AnchorLink>
              ),
            },
            {
              title: "Health",
              cell: (deployment) => <Health deployment={deployment} />,
              width: "28%",
            },
            { title: "URL", cell: (deployment) => <DeploymentAddress deployment={deployment} />, width: "30%" },
            { title: "Source", cell: ({ source }) => <Text size="sm">{SOURCE_NAMES[source]}</Text>, width: 110 },
            { title: "Updated", cell: ({ updated_at: at }) => <TimeText at={at} />, width: 100 },
          ]}
        />
      </LoadedList>
      {create && (
        <NewDeployment
          onClose={() => setCreating(false)}
          onCreated={({ id }) => void navigate({ to: "/deployments/$deploymentId", params: { deploymentId: id } })}
        />
      )}
    </Page>
  );
}

/** What serves, and how the latest revision does if that is another one. */
function Health({ deployment }: { deployment: Deployment }) {
  const { latest_revision_status: status, latest_revision_message: message } = deployment;
  const hasFailed = /FAILED/.test(status ?? "");
  const isLatestActive = deployment.latest_revision_id === deployment.active_revision_id;
  return (
    <>
      <StatusBadge status={deployment.status} />{" "}
      {deployment.active_revision_number !== null && (
        <Text span size="xs" c="dimmed" className="numbers">
          revision {deployment.active_revision_number} serves
        </Text>
      )}
      {!isLatestActive && status !== null && (
        <AnchorLink
          to="/deployments/$deploymentId"
          params={{ deploymentId: deployment.id }}
          search={{ tab: "revisions" }}
          size="xs"
          lineClamp={2}
          {...(hasFailed && { c: "var(--heddle-danger)" })}
        >
          Revision {deployment.latest_revision_number}: {statusWords(status)}
          {hasFailed && message !== null && `. ${message.split("\n", 1)[0]}`}
        </AnchorLink>
      )}
    </>
  );
}
