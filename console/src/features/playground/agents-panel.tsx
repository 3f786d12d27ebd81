import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { Empty } from "../../ui/empty.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Loading } from "../../ui/loading.tsx";
import { asMessages } from "../../ui/messages/message.ts";
import { MessageList } from "../../ui/messages/message-list.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { namespaceStateQuery } from "../threads/queries.ts";
import classes from "./playground.module.css";
import type { RunWatch, Step, SubAgent } from "./run-watch.ts";
import type { StoredAgent } from "./stored-agents.ts";

interface AgentsPanelProps {
  server: string;
  threadId: string | null;
  watch: Pick<RunWatch, "agents" | "steps">;
  /** Read when the run was not observed. */
  stored: readonly StoredAgent[];
}

/** Sub-agents of the active or the last run, beside each other: what each of them says and writes. */
export function AgentsPanel({ server, threadId, watch, stored }: AgentsPanelProps) {
  const live = [...watch.agents.values()];
  if (live.length > 0) {
    return (
      <div className={classes.agents}>
        {live.map((agent) => (
          <Agent key={agent.id} agent={agent} state={stateOf(agent, watch.steps)} />
        ))}
      </div>
    );
  }
  if (stored.length === 0 || threadId === null) {
    return (
      <Empty title="No sub-agents yet">
        Subgraphs of a run appear here beside each other, with what each of them says.
      </Empty>
    );
  }
  return (
    <div className={classes.agents}>
      {stored.map((agent) => (
        <Stored key={agent.id} server={server} threadId={threadId} {...agent} />
      ))}
    </div>
  );
}

const stateOf = ({ taskId }: SubAgent, steps: readonly Step[]): string =>
  steps.find(({ id }) => id === taskId)?.state ?? "done";

/** A sub-agent of a run that was not observed: its checkpoints are below those of the graph. */
function Stored({ server, threadId, id, name }: { server: string; threadId: string; id: string; name: string }) {
  const state = useQuery(namespaceStateQuery(server, threadId, id));
  if (state.isPending) return <Loading rows={3} />;
  // a subgraph without a checkpointer leaves no state
  if (!state.data) return null;
  return <Agent agent={{ id, name, taskId: "", values: state.data.values, draft: null }} state="done" />;
}

function Agent({ agent: { name, values, draft }, state }: { agent: SubAgent; state: string }) {
  const fields = (values ?? {}) as Record<string, unknown>;
  const list = Object.values(fields).find((value) => asMessages(value) !== null);
  const messages = asMessages(list) ?? [];
  const drafted = draft && draft.text !== "" ? asMessages([{ type: "ai", content: draft.text }])! : [];
  const shown = [...messages, ...drafted];
  return (
    <section className={classes.agent} aria-label={`Sub-agent ${name}`}>
      <Group gap={8} mb={6} wrap="nowrap">
        <Text size="sm" fw={600} truncate title={name}>
          {name}
        </Text>
        <StatusBadge status={state === "active" ? "running" : state} />
      </Group>
      <Stack gap="xs">
        {shown.length > 0 ? (
          <MessageList messages={shown} />
        ) : (
          values !== undefined && <JsonView value={values} label={`State of ${name}`} maxHeight="20rem" />
        )}
      </Stack>
    </section>
  );
}
