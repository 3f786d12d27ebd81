import { Code, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { controlApi, data, traceApi } from "../../api/clients.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";

const MOST = 6;

function Card({ title, all, children }: { title: string; all: ReactNode; children: ReactNode }) {
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        {all}
      </Group>
      <Stack gap={6}>{children}</Stack>
    </>
  );
}

export function DeploymentsCard() {
  const {
    data: deployments,
    error,
    refetch,
  } = useQuery({
    queryKey: ["control", "deployments", "newest"],
    queryFn: ({ signal }) =>
      data(controlApi.GET("/v2/deployments", { params: { query: { limit: String(MOST) } }, signal })),
    refetchInterval: 10_000,
  });
  return (
    <Card
      title="Deployments"
      all={
        <AnchorLink to="/deployments" size="sm">
          All deployments
        </AnchorLink>
      }
    >
      {error ? (
        <Problem error={error} onRetry={refetch} />
      ) : !deployments ? (
        <Loading rows={3} />
      ) : deployments.resources.length === 0 ? (
        <Text size="sm">
          None yet. <Code>heddle deploy</Code> in a project's directory makes one, and so does the list of deployments.
        </Text>
      ) : (
        deployments.resources.map(({ id, name, status }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <AnchorLink to="/deployments/$deploymentId" params={{ deploymentId: id }} size="sm" truncate>
              {name}
            </AnchorLink>
            <StatusBadge status={status} />
          </Group>
        ))
      )}
    </Card>
  );
}

export function ProjectsCard() {
  const {
    data: projects,
    error,
    refetch,
  } = useQuery({
    queryKey: ["projects", "newest"],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/sessions", {
          params: { query: { limit: String(MOST), sort_by: "last_run_start_time", sort_by_desc: "true" } },
          signal,
        }),
      ),
    refetchInterval: 10_000,
  });
  return (
    <Card
      title="Traces"
      all={
        <AnchorLink to="/projects" size="sm">
          All projects
        </AnchorLink>
      }
    >
      {error ? (
        <Problem error={error} onRetry={refetch} />
      ) : !projects ? (
        <Loading rows={3} />
      ) : projects.length === 0 ? (
        <Text size="sm">None yet. Every run of a graph is traced; any LangSmith client can send others.</Text>
      ) : (
        projects.map(({ id, name, last_run_start_time: last }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <AnchorLink to="/projects/$projectId" params={{ projectId: id }} size="sm" truncate>
              {name}
            </AnchorLink>
            <TimeText at={last} />
          </Group>
        ))
      )}
    </Card>
  );
}
