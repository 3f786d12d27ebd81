import { Button, Group, Text } from "@mantine/core";
import { IconPlayerStop } from "@tabler/icons-react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { TraceLink } from "../threads/trace-link.tsx";
import type { Run } from "../threads/queries.ts";
import classes from "./playground.module.css";
import type { RunControls } from "./use-run.ts";

interface RunBarProps {
  server: string;
  threadId: string | null;
  controls: RunControls;
  /** Run that the page has started or joined last. */
  activeId: string | null;
  attempt?: number;
}

/** The active or last run: its status, its trace, and buttons to stop it and those queued behind it. */
export function RunBar({ server, threadId, controls, activeId, attempt = 1 }: RunBarProps) {
  const { runs, thread, stream, isDisconnected } = controls;
  const isRunning = stream.isLoading;
  // its stream reports it before the list of runs does
  const started = activeId === null ? undefined : ({ run_id: activeId, status: "running" } as Run);
  const listed = runs.find(({ run_id: id }) => id === activeId);
  const run = listed ?? (isRunning ? started : runs.find(({ status }) => status !== "pending"));
  const waiting = runs.filter(({ status, run_id: id }) => status === "pending" && id !== activeId).toReversed();
  const isAsking = thread?.status === "interrupted" && run?.status === "success";
  return (
    <Group className={classes.bar} gap="xs" role="group" aria-label="Run">
      {run === undefined ? (
        <Text size="sm" c="dimmed">
          {isRunning ? "Starting…" : "No run yet"}
        </Text>
      ) : (
        <>
          <StatusBadge status={isRunning ? "running" : isAsking ? "needs review" : run.status} />
          {isRunning && attempt > 1 && <Text size="xs">attempt {attempt}</Text>}
          <RunName server={server} threadId={threadId} runId={run.run_id} />
          <CopyButton value={run.run_id} label="Copy run ID" />
          <TimeText at={run.created_at} size="xs" />
          <TraceLink runId={run.run_id} />
        </>
      )}
      {threadId !== null && (
        <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId }} size="xs">
          Thread
        </AnchorLink>
      )}
      {isDisconnected && (
        <Text size="sm" role="status" c="var(--heddle-danger)">
          Connection lost. Reconnecting when the server responds…
        </Text>
      )}
      <Group gap="xs" ms="auto">
        {waiting.map((queued, index) => (
          <Button
            key={queued.run_id}
            size="compact-xs"
            variant="default"
            onClick={() => void controls.cancel(queued.run_id)}
            aria-label={`Cancel queued run ${index + 1}`}
          >
            Cancel queued run {index + 1}
          </Button>
        ))}
        {isRunning && run && (
          <Button
            size="compact-sm"
            color="danger"
            variant="outline"
            leftSection={<IconPlayerStop size={14} />}
            onClick={() => void controls.cancel(run.run_id)}
          >
            Cancel
          </Button>
        )}
      </Group>
    </Group>
  );
}

function RunName({ server, threadId, runId }: Pick<RunBarProps, "server" | "threadId"> & { runId: string }) {
  const shown = { size: "xs", ff: "monospace", title: runId, visibleFrom: "xs" } as const;
  const name = `run ${runId.slice(-8)}`;
  if (threadId === null) {
    return (
      <Text {...shown} c="dimmed">
        {name}
      </Text>
    );
  }
  return (
    <AnchorLink to="/a/$server/threads/$threadId/runs/$runId" params={{ server, threadId, runId }} {...shown}>
      {name}
    </AnchorLink>
  );
}
