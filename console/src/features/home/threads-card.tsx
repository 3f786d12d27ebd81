import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { threadListQuery } from "../threads/queries.ts";
import { previewThread } from "../threads/thread-preview.ts";
import { Card } from "./card.tsx";

const LIMIT = 6;

/** The most recently updated threads. */
export function ThreadsCard({ server }: { server: string }) {
  const query = useQuery({ ...threadListQuery(server, {}), refetchInterval: 10_000 });
  return (
    <Card
      title="Recent threads"
      all={
        <AnchorLink to="/a/$server/threads" params={{ server }} size="sm">
          All threads
        </AnchorLink>
      }
      query={{ ...query, data: query.data?.threads.slice(0, LIMIT) }}
      none={
        <Text size="sm">
          No threads yet. Start a conversation in the{" "}
          <AnchorLink to="/a/$server/playground" params={{ server }}>
            playground
          </AnchorLink>
          .
        </Text>
      }
      line={(thread) => (
        <Group key={thread.thread_id} wrap="nowrap" gap="sm">
          <AnchorLink
            to="/a/$server/threads/$threadId"
            params={{ server, threadId: thread.thread_id }}
            size="sm"
            truncate
            style={{ flex: 1 }}
          >
            {previewThread(thread) || `Thread ${thread.thread_id.slice(-8)}`}
          </AnchorLink>
          <StatusBadge status={thread.status} />
          <TimeText at={thread.updated_at} />
        </Group>
      )}
    />
  );
}
