import { Button, Grid, Group, Stack, Tabs, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";

import { count } from "../../ui/format.ts";
import { LazyJson } from "../../ui/lazy-json.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { asMessages, type Message } from "../../ui/messages/message.ts";
import { MessageList } from "../../ui/messages/message-list.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { countShared } from "./first-difference.ts";
import { historyQuery, runsQuery, type State, type Thread, threadListQuery, threadQuery } from "./queries.ts";
import { isUuid } from "./read-thread-search.ts";
import classes from "./thread-compare.module.css";
import { previewThread } from "./thread-preview.ts";

const DiffView = lazy(async () => ({ default: (await import("../../ui/diff-view.tsx")).DiffView }));

/** Runs of a thread that are counted. */
const MAX_RUNS = 100;

interface ThreadCompareProps {
  server: string;
  thread: Thread;
  /** Id of the other thread. */
  against: string | undefined;
  onChoose: (id: string | undefined) => void;
}

/** This thread beside another one: where their conversations part, and how their states differ. */
export function ThreadCompare({ server, thread, against, onChoose }: ThreadCompareProps) {
  if (against === undefined) return <ThreadPicker server={server} thread={thread} onChoose={onChoose} />;
  return <Compared key={against} server={server} ids={[thread.thread_id, against]} onChoose={onChoose} />;
}

function ThreadPicker({ server, thread, onChoose }: Omit<ThreadCompareProps, "against">) {
  const [text, setText] = useState("");
  const { graph_id: graph } = (thread.metadata ?? {}) as { graph_id?: string };
  const recent = useQuery(threadListQuery(server, graph === undefined ? {} : { meta: `graph_id=${graph}` }));
  const others = (recent.data?.threads ?? []).filter(({ thread_id: id }) => id !== thread.thread_id).slice(0, 10);
  return (
    <Stack gap="xs" maw={720}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isUuid(text)) onChoose(text.trim());
        }}
      >
        <Group gap="xs" align="flex-end">
          <TextInput
            size="xs"
            style={{ flex: 1 }}
            label="ID of the other thread"
            value={text}
            error={text.trim() === "" || isUuid(text) ? undefined : "Enter a full thread ID"}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          <Button size="xs" type="submit" disabled={!isUuid(text)}>
            Compare
          </Button>
        </Group>
      </form>
      {others.length > 0 && (
        <>
          <Text size="xs" c="dimmed">
            Or a recent thread of the same graph:
          </Text>
          <Stack gap={2} role="list" aria-label="Recent threads">
            {others.map((other) => (
              <div key={other.thread_id} role="listitem">
                <UnstyledButton className={classes["choice"]} onClick={() => onChoose(other.thread_id)}>
                  <Text size="sm" truncate miw={0} dir="auto">
                    {previewThread(other) || "No messages"}
                  </Text>
                  <TimeText at={other.updated_at} size="xs" c="dimmed" />
                  <ShortId id={other.thread_id} />
                </UnstyledButton>
              </div>
            ))}
          </Stack>
        </>
      )}
    </Stack>
  );
}

function useSide(server: string, id: string) {
  const thread = useQuery(threadQuery(server, id));
  const state = useQuery(historyQuery(server, id, 1));
  const runs = useQuery(runsQuery(server, id, MAX_RUNS));
  const values = (state.data?.[0]?.values ?? {}) as Record<string, unknown>;
  const messages = useMemo(
    () => asMessages(Object.values(values).find((value) => asMessages(value) !== null)) ?? [],
    [state.data],
  );
  return {
    id,
    thread: thread.data,
    state: state.data?.[0],
    runs: runs.data,
    values,
    messages,
    queries: [thread, state, runs],
  };
}
type Side = ReturnType<typeof useSide>;

interface ComparedProps {
  server: string;
  ids: [string, string];
  onChoose: (id: string | undefined) => void;
}

function Compared({ server, ids, onChoose }: ComparedProps) {
  const sides = [useSide(server, ids[0]), useSide(server, ids[1])] as const;
  const [a, b] = sides;
  const queries = [...a.queries, ...b.queries];
  const isLoaded = queries.every(({ data }) => data !== undefined);
  const shared = countShared(a.messages, b.messages);
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text size="sm" role="status">
          {!isLoaded ? "" : describe(shared, a.messages.length, b.messages.length)}
        </Text>
        <Button size="compact-sm" variant="default" ms="auto" onClick={() => onChoose(undefined)}>
          Choose another thread
        </Button>
      </Group>
      {!isLoaded ? (
        <LoadState query={queries} rows={8} title="Could not load the threads" />
      ) : (
        <>
          <LoadState query={queries} title="Could not load the threads" />
          <Metrics server={server} sides={sides} />
          <Tabs defaultValue="sides" keepMounted={false}>
            <TabList>
              <Tabs.Tab value="sides">Side by side</Tabs.Tab>
              <Tabs.Tab value="diff">Differences of state</Tabs.Tab>
            </TabList>
            <Tabs.Panel value="sides" pt="sm">
              <Grid>
                {sides.map((side, index) => (
                  <Grid.Col key={side.id} span={{ base: 12, sm: 6 }}>
                    <Conversation name={"AB"[index]!} side={side} shared={shared} />
                  </Grid.Col>
                ))}
              </Grid>
            </Tabs.Panel>
            <Tabs.Panel value="diff" pt="sm">
              <Suspense fallback={<Loading />}>
                <DiffView before={a.values} after={b.values} names={["thread A", "thread B"]} />
              </Suspense>
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </Stack>
  );
}

function describe(shared: number, a: number, b: number): string {
  if (a === 0 && b === 0) return "Neither thread has messages: their states are compared.";
  if (shared === a && shared === b) return "Both conversations say the same.";
  if (shared === 0) return "The conversations differ from their first message.";
  return `The first ${shared === 1 ? "message is" : `${shared} messages are`} the same.`;
}

/** One conversation, with a line where the two part. */
function Conversation({ name, side, shared }: { name: string; side: Side; shared: number }) {
  const rest: Message[] = side.messages.slice(shared);
  return (
    <section aria-label={`Thread ${name}`}>
      {side.messages.length === 0 ? (
        <LazyJson value={side.values} label={`state of ${name}`} />
      ) : (
        <Stack gap="xs">
          <MessageList messages={side.messages.slice(0, shared)} />
          {shared > 0 && rest.length > 0 && <div className={classes["parting"]}>Differs from here</div>}
          <MessageList messages={rest} />
        </Stack>
      )}
    </section>
  );
}

function Metrics({ server, sides }: { server: string; sides: readonly Side[] }) {
  const stepOf = (state: State | undefined) => (state?.metadata as { step?: number } | null | undefined)?.step ?? null;
  return (
    <SimpleTable
      label="Both threads"
      rows={[...sides]}
      rowKey={({ id }) => id}
      columns={[
        {
          title: "Thread",
          cell: (side) => (
            <Group gap={6} wrap="nowrap">
              <Text fw={600}>{"AB"[sides.indexOf(side)]}</Text>
              <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId: side.id }} size="sm">
                {side.id.slice(-8)}
              </AnchorLink>
            </Group>
          ),
        },
        { title: "Status", cell: ({ thread }) => thread && <StatusBadge status={thread.status} /> },
        {
          title: "Runs",
          align: "right",
          cell: ({ runs }) => runs && (runs.length === MAX_RUNS ? `${MAX_RUNS} or more` : count(runs.length)),
        },
        { title: "Messages", align: "right", cell: ({ messages }) => count(messages.length) },
        { title: "Last step", align: "right", cell: ({ state }) => count(stepOf(state)) },
        { title: "Active", cell: ({ thread }) => thread && <TimeText at={thread.updated_at} /> },
      ]}
    />
  );
}
