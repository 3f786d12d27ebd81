import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { useAgentServers } from "../../app/use-agent-servers.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { readMetadata, type Run } from "../runs/run-record.ts";
import { type Origin, runOriginQuery } from "./queries.ts";

/** Limit on servers that are queried for a thread. */
const SERVER_LIMIT = 8;

/** Reads the metadata that LangGraph records with each run of a graph. */
function readOrigin(run: Run): Origin | null {
  const { thread_id: thread, run_id: runId, langgraph_step: step, graph_id: graph } = readMetadata(run);
  if (typeof thread !== "string" || typeof graph !== "string") return null;
  return {
    threadId: thread,
    runId: typeof runId === "string" ? runId : null,
    step: typeof step === "number" ? step : null,
  };
}

/** Links to the thread that an agent's run belongs to, and to the state that its step produced. */
export function RunOrigin({ run }: { run: Run }) {
  const origin = readOrigin(run);
  const { servers } = useAgentServers();
  const ids = servers.slice(0, SERVER_LIMIT).map(({ id }) => id);
  const found = useQuery(runOriginQuery(origin, ids));
  if (!found.data) return null;
  const { server, threadId, checkpoint } = found.data;
  return (
    <Group gap="sm" mt={4}>
      <Text size="xs" c="dimmed">
        Source
      </Text>
      <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId }} size="xs">
        thread {threadId.slice(-8)}
      </AnchorLink>
      {origin?.runId != null && (
        <AnchorLink
          to="/a/$server/threads/$threadId/runs/$runId"
          params={{ server, threadId, runId: origin.runId }}
          size="xs"
        >
          run {origin.runId.slice(-8)}
        </AnchorLink>
      )}
      {checkpoint !== null && (
        <AnchorLink
          to="/a/$server/threads/$threadId"
          params={{ server, threadId }}
          search={{ checkpoint } as never}
          size="xs"
        >
          Last checkpoint
        </AnchorLink>
      )}
    </Group>
  );
}
