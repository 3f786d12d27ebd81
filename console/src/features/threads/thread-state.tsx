import { Button, Grid, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { asMessages } from "../../ui/messages/message.ts";
import { MessageList } from "../../ui/messages/message-list.tsx";
import { notifyDone } from "../../ui/notify.ts";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { resumeFrom } from "../interrupts/answer-thread.ts";
import { ThreadInterrupts } from "../interrupts/thread-interrupts.tsx";
import { EditState } from "../playground/edit-state.tsx";
import { FailureAlert } from "./failure-alert.tsx";
import { readFailure, type RunFailure } from "./run-failure.ts";
import { drawingQuery, historyQuery, schemasQuery, type State, type Thread, threadKey } from "./queries.ts";

/** Current state of the thread: messages, interrupts, all values, and a form to update them. */
export function ThreadStatePanel({ server, thread }: { server: string; thread: Thread }) {
  const { thread_id: threadId, status, updated_at: updatedAt, metadata } = thread;
  const queryClient = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const graph = (metadata as { assistant_id?: string; graph_id?: string } | null)?.assistant_id;
  const newest = historyQuery(server, threadId, 1);
  const state = useQuery({
    ...newest,
    queryKey: [...newest.queryKey, status, updatedAt],
    placeholderData: (old) => old,
  });
  const drawing = useQuery({ ...drawingQuery(server, graph ?? ""), enabled: graph !== undefined && isEditing });
  const schemas = useQuery({ ...schemasQuery(server, graph ?? ""), enabled: graph !== undefined && isEditing });
  if (!state.data) return <LoadState query={state} title="Could not load the state" />;
  const [now] = state.data;
  if (!now) {
    return <Empty title="No state yet">Start a run on this thread to create it.</Empty>;
  }
  const values = now.values as Record<string, unknown>;
  const lists = Object.entries(values ?? {}).flatMap(([key, value]) => {
    const messages = asMessages(value);
    return messages ? [{ key, messages }] : [];
  });
  // a run that failed after an answer leaves its question open
  const isUnanswered = status === "error" && Object.values(thread.interrupts ?? {}).flat().length > 0;
  const failures = listFailures(now, thread);
  const nodes = (drawing.data?.nodes ?? []).map(({ id }) => String(id)).filter((id) => !/^__(start|end)__$/.test(id));
  return (
    <Stack gap="sm">
      {(status === "interrupted" || isUnanswered) && <ThreadInterrupts server={server} thread={thread} />}
      {failures.map(({ title, failure }) => (
        <FailureAlert key={title} title={title} failure={failure} />
      ))}
      <Grid gap="md">
        {lists.map(({ key, messages }) => (
          <Grid.Col key={key} span={{ base: 12, md: 6 }}>
            <Title order={2} size="h5" mb="xs">
              {key}
            </Title>
            <MessageList messages={messages} />
          </Grid.Col>
        ))}
        <Grid.Col span={{ base: 12, md: lists.length > 0 ? 6 : 12 }}>
          <Group justify="space-between" mb="xs">
            <Title order={2} size="h5">
              Values
            </Title>
            <Group gap="xs">
              {now.next.length > 0 && <Text size="sm">next: {now.next.join(", ")}</Text>}
              <Button size="xs" variant="default" disabled={status === "busy"} onClick={() => setEditing(true)}>
                Edit state
              </Button>
            </Group>
          </Group>
          <JsonView value={values} label="values" maxHeight="40rem" />
          <Title order={2} size="h5" mt="md" mb="xs">
            Thread metadata
          </Title>
          <JsonView value={metadata} label="metadata" />
        </Grid.Col>
      </Grid>
      {isEditing && !(graph !== undefined && schemas.isPending) && (
        <EditState
          server={server}
          threadId={threadId}
          state={now}
          schema={schemas.data?.state_schema as JsonSchema | null | undefined}
          nodes={nodes}
          onClose={() => setEditing(false)}
          onDone={async (checkpointId, resumes) => {
            if (resumes) await resumeFrom(server, thread, checkpointId);
            setEditing(false);
            notifyDone(resumes ? "State saved, run resumed" : "State saved");
            await queryClient.invalidateQueries({ queryKey: threadKey(server, threadId) });
          }}
        />
      )}
    </Stack>
  );
}

/** Returns the thread's own error where it has one, as when a limit was reached, else the failures of tasks. */
function listFailures({ tasks }: State, thread: Thread): { title: string; failure: RunFailure }[] {
  const ofTasks = tasks.flatMap(({ name, error }) => {
    const failure = readFailure(error);
    return failure ? [{ title: `${name} failed`, failure }] : [];
  });
  const runFailure = thread.status === "error" ? readFailure((thread as { error?: unknown }).error) : null;
  if (!runFailure) return ofTasks;
  // a single failed task has the same error, without its stack
  const [firstFailure] = ofTasks;
  return [{ title: firstFailure && ofTasks.length === 1 ? firstFailure.title : "Run failed", failure: runFailure }];
}
