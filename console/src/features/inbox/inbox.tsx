import { Card, Group, Pagination, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
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
  const isListed = ({ thread_id: id }: ThreadLine) => interrupted.some((thread) => thread.thread_id === id);
  const threads = [...failed.filter((thread) => !isListed(thread)), ...interrupted];
  return (
    <Page maw={1040} title="Inbox">
      {waiting.error && !waiting.data ? (
        <Problem error={waiting.error} onRetry={waiting.refetch} />
      ) : !waiting.data ? (
        <Loading />
      ) : threads.length === 0 ? (
        <Empty title="Nothing to review">
          <Text size="sm">Runs that pause with LangGraph's interrupt() appear here for review.</Text>
        </Empty>
      ) : (
        <Stack gap="md">
          {typeof total === "number" && (
            <Text size="sm" c="dimmed">
              {total === 1 ? "1 thread needs review." : `${count(total)} threads need review.`}
            </Text>
          )}
          {threads.map((thread) => (
            <InterruptedThread
              key={thread.thread_id}
              server={server}
              thread={thread}
              names={names}
              onFailure={() => setFailed((before) => [thread, ...without(before, thread)])}
              onResumed={() => setFailed((before) => without(before, thread))}
            />
          ))}
          {typeof total === "number" && total > PAGE && (
            <Pagination
              size="sm"
              total={Math.ceil(total / PAGE)}
              value={page}
              onChange={setPage}
              getControlProps={(control) => ({ "aria-label": `${control} page` })}
            />
          )}
        </Stack>
      )}
    </Page>
  );
}

const without = (threads: ThreadLine[], { thread_id: gone }: ThreadLine) =>
  threads.filter(({ thread_id: id }) => id !== gone);

interface InterruptedThreadProps {
  server: string;
  thread: ThreadLine;
  names: ReadonlyMap<string, string>;
  onFailure: () => void;
  onResumed: () => void;
}

function InterruptedThread({ server, thread, names, onFailure, onResumed }: InterruptedThreadProps) {
  const { assistant_id: id, graph_id: graph } = (thread.metadata ?? {}) as Record<string, string | undefined>;
  return (
    <Card withBorder padding="sm" component="article" aria-label={`Thread ${thread.thread_id}`}>
      <Group gap="xs" mb="xs">
        <Text size="sm" fw={600}>
          {names.get(id ?? "") ?? graph ?? "Thread"}
        </Text>
        <AnchorLink
          to="/a/$server/threads/$threadId"
          params={{ server, threadId: thread.thread_id }}
          size="xs"
          ff="monospace"
        >
          {thread.thread_id}
        </AnchorLink>
        <AnchorLink to="/a/$server/playground" params={{ server }} search={{ thread: thread.thread_id }} size="xs">
          Open in playground
        </AnchorLink>
        <TimeText at={thread.updated_at} size="xs" ml="auto" />
      </Group>
      <ThreadInterrupts server={server} thread={thread as never} onFailure={onFailure} onResumed={onResumed} />
    </Card>
  );
}
