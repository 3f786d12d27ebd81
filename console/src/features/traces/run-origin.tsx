import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { agentApi, data } from "../../api/clients.ts";
import { useAgentServers } from "../../app/spaces.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { readMetadata, type Run } from "../runs/run-record.ts";

/** Limit on servers that are queried for a thread. */
const SERVER_LIMIT = 8;

interface Origin {
  threadId: string;
  /** Id of the agent server's run, which is also the id of its trace. */
  runId: string | null;
  step: number | null;
}

/** Reads the metadata that LangGraph records with each run of a graph. */
export function readOrigin(run: Run): Origin | null {
  const { thread_id: thread, run_id: runId, langgraph_step: step, graph_id: graph } = readMetadata(run);
  if (typeof thread !== "string" || typeof graph !== "string") return null;
  return {
    threadId: thread,
    runId: typeof runId === "string" ? runId : null,
    step: typeof step === "number" ? step : null,
  };
}

interface State {
  checkpoint?: { checkpoint_id?: string | null } | null;
  metadata?: { step?: number; run_id?: string } | null;
}

/** Links to the thread that an agent's run belongs to, and to the state that its step produced. */
export function RunOrigin({ run }: { run: Run }) {
  const origin = readOrigin(run);
  const { servers } = useAgentServers();
  const ids = servers.slice(0, SERVER_LIMIT).map(({ id }) => id);
  const found = useQuery({
    queryKey: ["run-origin", origin, ids],
    queryFn: async () => {
      const { threadId, runId, step } = origin!;
      const params = { path: { thread_id: threadId } };
      for (const server of ids) {
        const thread = await data(agentApi(server).GET("/threads/{thread_id}", { params })).catch(() => null);
        if (!thread) continue;
        const body = { limit: 100, ...(runId !== null && { metadata: { run_id: runId } }) };
        const history = await data(agentApi(server).POST("/threads/{thread_id}/history", { params, body })).catch(
          () => [],
        );
        const states = history as unknown as State[];
        // newest first: without a step, the run's final state
        const state = step === null ? states[0] : states.find(({ metadata }) => metadata?.step === step);
        return { server, threadId, checkpoint: state?.checkpoint?.checkpoint_id ?? null };
      }
      return null;
    },
    enabled: origin !== null && ids.length > 0,
    staleTime: 60_000,
  });
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
