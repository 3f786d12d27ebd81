import { Group, Stack, Text } from "@mantine/core";

import { count, duration, money } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import classes from "./prompt-playground.module.css";
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
      <Stack component="ol" gap={0} className={classes["tries"]} tabIndex={0} aria-label="Tries, newest first">
        {tries.map((entry) => (
          <TryRow key={`${entry.at} ${entry.column} ${entry.runId}`} entry={entry} />
        ))}
      </Stack>
    </section>
  );
}

function TryRow({ entry }: { entry: Try }) {
  const { at, column, model, status, preview, latencyMs, totalTokens, cost, runId, projectId } = entry;
  return (
    <li>
      <Group gap="xs" style={{ rowGap: 0 }}>
        <Text size="xs" fw={500}>
          {column} · {model}
        </Text>
        <TimeText at={at} size="xs" c="dimmed" />
        {status !== "done" && <StatusBadge status={STATUS[status]} />}
        <Text size="xs" c="dimmed" className="numbers">
          {duration(latencyMs)}
          {totalTokens !== null && ` · ${count(totalTokens)} tokens`}
          {cost !== null && ` · ${money(cost)}`}
        </Text>
        {runId !== null && projectId !== null && (
          <AnchorLink
            to="/projects/$projectId/r/$runId"
            params={{ projectId, runId }}
            search={{ poll: true }}
            size="xs"
            ms="auto"
            aria-label={`Trace of ${column} · ${model}`}
          >
            Trace
          </AnchorLink>
        )}
      </Group>
      <Text size="xs" lineClamp={1}>
        {preview}
      </Text>
    </li>
  );
}
