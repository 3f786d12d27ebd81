import { Group, Text, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { threadListQuery } from "../threads/queries.ts";
import { previewThread } from "../threads/thread-preview.ts";
import classes from "./playground.module.css";

interface RecentThreadsListProps {
  server: string;
  current: string | undefined;
  onChoose: (threadId: string) => void;
}

/** The most recently updated threads, newest first. */
export function RecentThreadsList({ server, current, onChoose }: RecentThreadsListProps) {
  const { data, error, refetch } = useQuery(threadListQuery(server, {}));
  if (!data) return <LoadState query={{ error, refetch }} rows={5} />;
  if (data.threads.length === 0) {
    return (
      <Text size="sm" p="xs">
        No threads yet. Send a message to start one.
      </Text>
    );
  }
  return (
    <>
      <div className={classes.recents}>
        {data.threads.map((thread) => {
          const { thread_id: id, status, metadata, updated_at: at } = thread;
          const graph = (metadata as { graph_id?: string } | null)?.graph_id;
          return (
            <UnstyledButton
              key={id}
              className={classes.recent}
              aria-current={id === current ? "true" : undefined}
              aria-label={`Thread ${id}`}
              onClick={() => onChoose(id)}
            >
              <Text size="sm" truncate>
                {previewThread(thread) || id}
              </Text>
              <Group gap={6} wrap="nowrap">
                <StatusBadge status={status} />
                <Text size="xs" c="dimmed" truncate>
                  {graph}
                </Text>
                <TimeText at={at} size="xs" c="dimmed" ms="auto" />
              </Group>
            </UnstyledButton>
          );
        })}
      </div>
      <AnchorLink to="/a/$server/threads" params={{ server }} size="sm" display="block" p="xs">
        All threads
      </AnchorLink>
    </>
  );
}
