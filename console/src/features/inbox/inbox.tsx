import { Card, Group, Pagination, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { ThreadInterrupts } from "../interrupts/thread-interrupts.tsx";
import { PAGE, type ThreadLine, threadListQuery, assistantsQuery } from "../threads/queries.ts";

const route = getRouteApi("/_shell/a/$server/inbox");

/** Threads that wait for a human, longest waiting first. */
export function Inbox() {
  const { server } = route.useParams();
  const [page, setPage] = useState(1);
  /** Threads whose run failed after an answer: their question is still open, but their status is "error". */
  const [failed, setFailed] = useState<ThreadLine[]>([]);
  const waiting = useQuery(threadListQuery(server, { status: "interrupted", sort: "updated_at", order: "asc", page }));
  const assistants = useQuery(assistantsQuery(server));
  const names = new Map((assistants.data ?? []).map(({ assistant_id: id, name }) => [id, name]));
  const { threads: interrupted = [], total } = waiting.data ?? {};
  /** Threads that were answered here. They keep their places, so that no other card moves under the pointer. */
  const [all, setAnswered] = useState<Answered[]>([]);
  const isListed = ({ thread_id: id }: ThreadLine) => interrupted.some((thread) => thread.thread_id === id);
  const answered = all.filter(({ thread: { thread_id: id, updated_at: at } }) =>
    // one that asks again is listed anew
    interrupted.every((thread) => thread.thread_id !== id || thread.updated_at === at),
  );
  const isAnswered = ({ thread_id: id }: ThreadLine) => answered.some(({ thread }) => thread.thread_id === id);
  const open = [...failed.filter((thread) => !isListed(thread)), ...interrupted];
  const threads = withAnswered(
    open.filter((thread) => !isAnswered(thread)),
    answered,
  );
  return (
    <Page maw={1040} title="Inbox">
      <LoadedList
        query={waiting}
        list={threads}
        empty={
          <Empty title="Nothing to review">Runs that pause with LangGraph's interrupt() appear here for review.</Empty>
        }
      >
        <Stack gap="md">
          {typeof total === "number" && (
            <Text size="sm" c="dimmed">
              {total === 0
                ? "No thread needs review."
                : total === 1
                  ? "1 thread needs review."
                  : `${count(total)} threads need review.`}
            </Text>
          )}
          {threads.map((thread, place) => (
            <InterruptedThread
              key={thread.thread_id}
              server={server}
              thread={thread}
              names={names}
              answered={answered.find((entry) => entry.thread.thread_id === thread.thread_id)}
              onFailure={() => setFailed((before) => [thread, ...without(before, thread)])}
              onResumed={(height) => {
                setFailed((before) => without(before, thread));
                setAnswered([...answered, { thread, place, height }]);
              }}
            />
          ))}
          {typeof total === "number" && total > PAGE && (
            <Pagination
              size="sm"
              total={Math.ceil(total / PAGE)}
              value={page}
              onChange={(next) => {
                setAnswered([]);
                setPage(next);
              }}
              getControlProps={(control) => ({ "aria-label": `${control} page` })}
            />
          )}
        </Stack>
      </LoadedList>
    </Page>
  );
}

interface Answered {
  thread: ThreadLine;
  /** Index in the list when it was answered. */
  place: number;
  /** Height of its card in pixels. */
  height: number;
}

function withAnswered(open: ThreadLine[], answered: readonly Answered[]): ThreadLine[] {
  const threads = [...open];
  for (const { thread, place } of answered.toSorted((a, b) => a.place - b.place)) threads.splice(place, 0, thread);
  return threads;
}

const without = (threads: ThreadLine[], { thread_id: gone }: ThreadLine) =>
  threads.filter(({ thread_id: id }) => id !== gone);

interface InterruptedThreadProps {
  server: string;
  thread: ThreadLine;
  names: ReadonlyMap<string, string>;
  answered: Answered | undefined;
  onFailure: () => void;
  /** @param height of the card */
  onResumed: (height: number) => void;
}

function InterruptedThread({ server, thread, names, answered, onFailure, onResumed }: InterruptedThreadProps) {
  const card = useRef<HTMLDivElement>(null);
  const { assistant_id: id, graph_id: graph } = (thread.metadata ?? {}) as Record<string, string | undefined>;
  return (
    <Card
      ref={card}
      withBorder
      padding="sm"
      component="article"
      aria-label={`Thread ${thread.thread_id}`}
      {...(answered && { mih: answered.height })}
    >
      <Group gap="xs" mb="xs">
        <Text fw={600}>{names.get(id ?? "") ?? graph ?? "Thread"}</Text>
        <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId: thread.thread_id }} size="xs">
          Thread <ShortId id={thread.thread_id} />
        </AnchorLink>
        <AnchorLink to="/a/$server/playground" params={{ server }} search={{ thread: thread.thread_id }} size="xs">
          Open in playground
        </AnchorLink>
        <TimeText at={thread.updated_at} size="xs" ms="auto" />
      </Group>
      {answered ? (
        <Text size="sm" c="dimmed">
          Answered. The run continues.
        </Text>
      ) : (
        <ThreadInterrupts
          server={server}
          thread={thread as never}
          onFailure={onFailure}
          onResumed={() => onResumed(card.current?.getBoundingClientRect().height ?? 0)}
        />
      )}
    </Card>
  );
}
