import { Spoiler, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { turnsQuery } from "../traces/queries.ts";
import { RunValue } from "../traces/run-value.tsx";

interface ConversationProps {
  projectId: string;
  threadId: string;
  /** Trace of the run under review, which ends the conversation. */
  runId: string;
}

/** The turns of a thread before the run under review. */
export function Conversation({ projectId, threadId, runId }: ConversationProps) {
  const { data: turns } = useQuery({ ...turnsQuery(projectId, threadId), refetchInterval: false });
  const place = (turns ?? []).findIndex((turn) => turn.id === runId);
  const earlier = (turns ?? []).slice(0, place === -1 ? undefined : place);
  if (earlier.length === 0) return null;
  return (
    <section aria-label="Conversation">
      <Title order={2} size="h6" mb={4}>
        Conversation
      </Title>
      <Spoiler maxHeight={320} showLabel="Show all turns" hideLabel="Show less">
        <Stack gap="sm">
          {earlier.map((turn, index) => (
            <Stack key={turn.id} gap={4}>
              <RunValue title={`Turn ${index + 1}, input`} value={turn.inputs} />
              <RunValue title={`Turn ${index + 1}, output`} value={turn.outputs} />
            </Stack>
          ))}
        </Stack>
      </Spoiler>
    </section>
  );
}
