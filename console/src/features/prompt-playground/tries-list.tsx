import { Group, Text } from "@mantine/core";

import { count, duration, money } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import type { Try } from "./tries.ts";

const STATUS = { done: "success", failed: "error", stopped: "interrupted", running: "running" } as const;

/** History of the page's tries; each is a trace. */
export function TriesList({ tries }: { tries: readonly Try[] }) {
  if (tries.length === 0) return null;
  return (
    <section aria-label="Tries">
      <Text component="h2" fw={600} size="sm" mt="md" mb={4}>
        Tries
      </Text>
      <SimpleTable
        label="Tries"
        rows={[...tries]}
        rowKey={({ at, column, runId }) => `${at}${column}${runId}`}
        minWidth={640}
        columns={[
          { title: "Time", cell: ({ at }) => <TimeText at={at} size="xs" />, width: 90 },
          {
            title: "Model",
            cell: ({ column, model }) => (
              <Text size="xs">
                {column} · {model}
              </Text>
            ),
            width: 150,
          },
          {
            title: "Answer",
            cell: ({ preview, status }) => (
              <Group gap={6} wrap="nowrap">
                {status !== "done" && <StatusBadge status={STATUS[status]} />}
                <Text size="xs" lineClamp={2}>
                  {preview}
                </Text>
              </Group>
            ),
          },
          {
            title: "Time, tokens, cost",
            cell: ({ latencyMs, totalTokens, cost }) => (
              <Text size="xs" c="dimmed" className="numbers">
                {duration(latencyMs)} · {count(totalTokens)} · {money(cost)}
              </Text>
            ),
            width: 160,
          },
          {
            title: "Trace",
            cell: ({ runId, projectId }) =>
              runId !== null &&
              projectId !== null && (
                <AnchorLink
                  to="/projects/$projectId/r/$runId"
                  params={{ projectId, runId }}
                  search={{ poll: true }}
                  size="xs"
                >
                  Trace
                </AnchorLink>
              ),
            width: 70,
          },
        ]}
      />
    </section>
  );
}
