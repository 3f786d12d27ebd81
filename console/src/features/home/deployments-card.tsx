import { Code, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Card } from "./card.tsx";
import { newestDeploymentsQuery } from "./queries.ts";

export function DeploymentsCard() {
  const query = useQuery(newestDeploymentsQuery);
  return (
    <Card
      title="Deployments"
      all={
        <AnchorLink to="/deployments" size="sm">
          All deployments
        </AnchorLink>
      }
      query={query}
      none={
        <Text size="sm">
          No deployments yet. Run <Code>heddle deploy</Code> in a project's folder, or create one under “All
          deployments”.
        </Text>
      }
      line={({ id, name, status, latest_revision_status: latest }) => (
        <Group key={id} justify="space-between" wrap="nowrap">
          <AnchorLink to="/deployments/$deploymentId" params={{ deploymentId: id }} size="sm" truncate>
            {name}
          </AnchorLink>
          <StatusBadge status={/FAILED/.test(latest ?? "") ? latest : status} />
        </Group>
      )}
    />
  );
}
