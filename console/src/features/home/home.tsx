import { Code, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";

import { spacesQuery, useAgentServers } from "../../app/spaces.ts";
import { Empty } from "../../ui/empty.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";

/** The first page: where most want to go from there, which depends on what stands behind the console. */
export function Home() {
  const { data: about, error, refetch } = useQuery(spacesQuery);
  const { servers, isPending } = useAgentServers();
  if (error) return <Problem error={error} onRetry={refetch} />;
  if (!about || isPending) {
    return (
      <Page title="Heddle">
        <Loading />
      </Page>
    );
  }
  const [first] = servers;
  if (about.spaces.agent && first) return <Navigate to="/a/$server/playground" params={{ server: first.id }} replace />;
  if (about.spaces.control) return <Navigate to="/deployments" replace />;
  if (about.spaces.trace) return <Navigate to="/projects" replace />;
  return (
    <Page title="Heddle">
      <Empty title="Nothing runs behind this console">
        <Text size="sm">
          Start <Code>heddle dev</Code> in a graph project, or <Code>heddle up</Code> for the whole platform.
        </Text>
      </Empty>
    </Page>
  );
}
