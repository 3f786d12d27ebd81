import { Button, Group, Stack, Tabs, Text } from "@mantine/core";
import { IconPlayerPlay, IconTrash, IconUpload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { controlApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { DeploymentAddress } from "./deployment-address.tsx";
import { DeploymentLog } from "./deployment-log.tsx";
import { Environment } from "./environment.tsx";
import { Instances } from "./instances.tsx";
import { NewRevision } from "./new-revision.tsx";
import { type Deployment, deploymentQuery, readServerId, SOURCE_NAMES } from "./queries.ts";
import { Resources } from "./resources.tsx";
import { Revisions } from "./revisions.tsx";
import { DEPLOYMENT_TABS, type DeploymentTab } from "./tabs.ts";

const route = getRouteApi("/_shell/deployments/$deploymentId");
const TITLES: Record<DeploymentTab, string> = {
  revisions: "Revisions",
  logs: "Server log",
  instances: "Instances",
  environment: "Environment",
  resources: "Resources",
};

export function DeploymentPage() {
  const { deploymentId: id } = route.useParams();
  const { tab = "revisions" } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: deployment, error, refetch } = useQuery(deploymentQuery(id));
  if (!deployment) {
    return (
      <Page title="Deployment">
        <LoadState query={{ error, refetch }} />
      </Page>
    );
  }
  return (
    <Page title={deployment.display_name ?? deployment.name} actions={<Actions deployment={deployment} />}>
      <Stack gap="sm">
        <Summary deployment={deployment} />
        <Tabs
          value={tab}
          keepMounted={false}
          onChange={(next) => void navigate({ search: { tab: next as DeploymentTab } })}
        >
          <TabList mb="sm">
            {DEPLOYMENT_TABS.map((value) => (
              <Tabs.Tab key={value} value={value}>
                {TITLES[value]}
              </Tabs.Tab>
            ))}
          </TabList>
          <Tabs.Panel value="revisions">
            <Revisions deployment={deployment} />
          </Tabs.Panel>
          <Tabs.Panel value="logs">
            <DeploymentLog deploymentId={id} kind="deploy" isLive height="calc(100vh - 300px)" />
          </Tabs.Panel>
          <Tabs.Panel value="instances">
            <Instances deploymentId={id} />
          </Tabs.Panel>
          <Tabs.Panel value="environment">
            <Environment key={deployment.secrets.map(({ name }) => name).join("\n")} deployment={deployment} />
          </Tabs.Panel>
          <Tabs.Panel value="resources">
            <Resources key={deployment.updated_at} deployment={deployment} />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </Page>
  );
}

function Summary({ deployment }: { deployment: Deployment }) {
  const { status, source, source_config: config, created_at: at } = deployment;
  return (
    <Group gap="md">
      <StatusBadge status={status} />
      <DeploymentAddress deployment={deployment} />
      <Text size="sm" c="dimmed">
        {SOURCE_NAMES[source]}
        {config.repo_url !== null && ` ${config.repo_url}`}
        {config.repo_branch !== null && `, ${config.repo_branch}`}
      </Text>
      <Text size="sm" c="dimmed">
        created <TimeText at={at} />
      </Text>
    </Group>
  );
}

function Actions({ deployment }: { deployment: Deployment }) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const [isDeploying, setDeploying] = useState(false);
  const server = readServerId(deployment);
  const remove = () =>
    confirm({
      title: `Delete ${deployment.name}?`,
      body: "This stops its server and permanently deletes its database: threads, runs, crons and store items. Traces are kept.",
      action: "Delete",
      typed: deployment.name,
      async run() {
        const params = { path: { deployment_id: deployment.id } };
        await controlApi.DELETE("/v2/deployments/{deployment_id}", { params });
        await navigate({ to: "/deployments" });
        await queryClient.invalidateQueries({ queryKey: ["control"] });
        await queryClient.invalidateQueries({ queryKey: ["console", "servers"] });
      },
    });
  return (
    <>
      <ButtonLink
        size="xs"
        variant="default"
        to="/deployments/$deploymentId/dashboard"
        params={{ deploymentId: deployment.id }}
      >
        Dashboard
      </ButtonLink>
      {server !== null && deployment.active_revision_id !== null && (
        <>
          <ButtonLink size="xs" variant="default" to="/a/$server/threads" params={{ server }}>
            Threads
          </ButtonLink>
          <ButtonLink size="xs" variant="default" to="/projects" search={{ text: deployment.name }}>
            Traces
          </ButtonLink>
          <ButtonLink size="xs" variant="default" to="/a/$server/queue" params={{ server }}>
            Queue
          </ButtonLink>
        </>
      )}
      {server !== null && deployment.active_revision_id !== null && (
        <ButtonLink
          size="xs"
          variant="default"
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          to="/a/$server/playground"
          params={{ server }}
        >
          Open in playground
        </ButtonLink>
      )}
      <Button size="xs" leftSection={<IconUpload size={14} aria-hidden />} onClick={() => setDeploying(true)}>
        New revision
      </Button>
      <Button size="xs" variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={remove}>
        Delete
      </Button>
      {isDeploying && <NewRevision deployment={deployment} onClose={() => setDeploying(false)} />}
      {dialog}
    </>
  );
}
