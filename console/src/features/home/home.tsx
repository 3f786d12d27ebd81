import { Code, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { spacesQuery } from "../../app/queries.ts";
import { useAgentServers } from "../../app/use-agent-servers.ts";
import { Empty } from "../../ui/empty.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import classes from "./home.module.css";
import { AgentCard } from "./agent-card.tsx";
import { FirstStepsCard } from "./first-steps-card.tsx";
import { DeploymentsCard } from "./deployments-card.tsx";
import { ThreadsCard } from "./threads-card.tsx";
import { FailuresCard, ProjectsCard } from "./traces-cards.tsx";

/** Home page: the state of all services, with links. */
export function Home() {
  const { data: about, error, refetch } = useQuery(spacesQuery);
  const { servers, isPending, error: serversError } = useAgentServers();
  const single = servers.length === 1 ? servers[0] : undefined;
  const failure = error ?? serversError;
  if (failure) return <Problem error={failure} onRetry={refetch} />;
  return (
    <Page title="Overview">
      {!about || isPending ? (
        <Loading rows={4} />
      ) : Object.values(about.spaces).every((isThere) => !isThere) ? (
        <Empty title="No servers connected">
          <Text size="sm">
            Start <Code>heddle dev</Code> in a graph project, or <Code>heddle up</Code> for the whole platform.
          </Text>
        </Empty>
      ) : (
        <Stack gap="sm" maw={1680}>
          {servers.length > 1 && (
            <section aria-label="Agent servers">
              <Title order={2} size="h5" mb="xs">
                Agent servers
              </Title>
              <div className={classes.servers}>
                {servers.slice(0, LIMIT).map((server) => (
                  <AgentCard key={server.id} server={server} order={3} />
                ))}
              </div>
            </section>
          )}
          <div className={classes.columns}>
            <Stack gap="sm">
              {single && <AgentCard server={single} order={2} />}
              {single && <ThreadsCard server={single.id} />}
              {about.spaces.control && <DeploymentsCard />}
            </Stack>
            <Stack gap="sm">
              {about.spaces.trace && single && <FirstStepsCard server={single.id} />}
              {about.spaces.trace && <ProjectsCard />}
            </Stack>
          </div>
          {about.spaces.trace && <FailuresCard />}
        </Stack>
      )}
    </Page>
  );
}

/** Limit, as each card queries its server; the list of deployments shows the rest. */
const LIMIT = 12;
