import { Group, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { type AgentServer, interruptedCountQuery } from "../../app/queries.ts";
import { count } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { queueStatisticsQuery } from "./queries.ts";

/** State of one server: active and pending runs, and threads that wait for a human. */
export function AgentCard({ server: { id: server, name }, order }: { server: AgentServer; order: 2 | 3 }) {
  const { data: queue, error } = useQuery(queueStatisticsQuery(server));
  const { data: waiting } = useQuery(interruptedCountQuery(server));
  const params = { server };
  return (
    <Paper withBorder p="md" component="article" aria-label={name}>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Title order={order} size="h5" lineClamp={1}>
          {name}
        </Title>
        <ButtonLink to="/a/$server/playground" params={params} size="xs">
          Playground
        </ButtonLink>
      </Group>
      {error ? (
        <Text size="sm" c="var(--heddle-danger)" role="alert">
          {error.message}
        </Text>
      ) : (
        <Group grow gap="xs">
          <Statistic label="Running" value={queue?.counts.running} />
          <Statistic label="Waiting" value={queue?.counts.pending} />
          <Statistic label="Needs review" value={waiting} />
        </Group>
      )}
      <Group gap="md" mt="sm">
        <AnchorLink to="/a/$server/threads" params={params} size="sm">
          Threads
        </AnchorLink>
        <AnchorLink to="/a/$server/inbox" params={params} size="sm">
          Inbox
        </AnchorLink>
        <AnchorLink to="/a/$server/assistants" params={params} size="sm">
          Assistants
        </AnchorLink>
        <AnchorLink to="/a/$server/queue" params={params} size="sm">
          Queue
        </AnchorLink>
      </Group>
    </Paper>
  );
}

const Statistic = ({ label, value }: { label: string; value: number | undefined }) => (
  <div>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text fz="lg" fw={700} className="numbers">
      {count(value)}
    </Text>
  </div>
);
