import { Box, Button, Group, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { branchColor } from "../threads/branch-heading.tsx";
import { BranchLines } from "../threads/branch-lines.tsx";
import type { State } from "../threads/queries.ts";
import { describeStep } from "../threads/steps.ts";
import { useBranches } from "../threads/use-branches.ts";
import classes from "./playground.module.css";
import type { Step } from "./run-watch.ts";

interface StepsPanelProps {
  /** Newest first. */
  states: readonly State[];
  /** Steps of the active run. */
  live: readonly Step[];
  custom: readonly unknown[];
  viewed: string | null;
  isRunning: boolean;
  onView: (checkpointId: string | null) => void;
  onRunFrom: (state: State) => void;
  onEdit: (state: State) => void;
}

/** The thread's states, newest first, with the active run's steps above them. */
export function StepsPanel({ states, live, custom, viewed, isRunning, ...on }: StepsPanelProps) {
  const branches = useBranches(states, [viewed]);
  if (states.length === 0 && live.length === 0) {
    return (
      <Empty title="No steps yet">
        {<Text size="sm">Send input to start a run. Each of its steps appears here with its state.</Text>}
      </Empty>
    );
  }
  return (
    <Stack gap={6}>
      {isRunning &&
        live.toReversed().map((step) => (
          <div key={step.id} className={classes.step}>
            <Group gap={6}>
              <Text size="sm" fw={600}>
                {step.node}
              </Text>
              <StatusBadge status={step.state === "active" ? "running" : step.state} />
            </Group>
            {step.result !== undefined && <LazyDetails label={`Result of ${step.node}`} value={step.result} />}
          </div>
        ))}
      {custom.length > 0 && <LazyDetails label={`Custom events (${custom.length})`} value={custom} />}
      {!isRunning && (
        <BranchLines branches={branches} frame={InBranch}>
          {({ state, parent }) => (
            <StateCard
              state={state}
              parent={parent}
              isViewed={viewed !== null && viewed === state.checkpoint?.checkpoint_id}
              {...on}
            />
          )}
        </BranchLines>
      )}
    </Stack>
  );
}

/** A line of the tree; states of the newest branch, if there are no others, need none. */
function InBranch({ depth, number, children }: { depth: number; number: number; children: ReactNode }) {
  if (depth === 0) return children;
  return (
    <Box ms={Math.min(depth, 6) * 10} ps={6} style={{ borderInlineStart: `3px solid ${branchColor(number)}` }}>
      {children}
    </Box>
  );
}

interface StateCardProps extends Pick<StepsPanelProps, "onView" | "onRunFrom" | "onEdit"> {
  state: State;
  parent: State | undefined;
  isViewed: boolean;
}

function StateCard({ state, parent, isViewed, onView, onRunFrom, onEdit }: StateCardProps) {
  const { number, title, updates, next } = describeStep(state, parent);
  const id = state.checkpoint?.checkpoint_id ?? null;
  return (
    <section
      className={classes.step}
      data-viewed={isViewed}
      aria-label={number < 0 ? "Input" : `Step ${number}: ${title}`}
    >
      <Group gap={6} wrap="nowrap">
        <Text size="xs" c="dimmed" className="numbers" miw={20}>
          {number < 0 ? "" : number}
        </Text>
        <Text size="sm" fw={600} truncate>
          {title}
        </Text>
        <TimeText at={state.created_at} size="xs" ms="auto" c="dimmed" />
      </Group>
      {next.length > 0 && (
        <Text size="xs" c="dimmed">
          next: {next.join(", ")}
        </Text>
      )}
      {updates !== null && <LazyDetails label="Writes" value={updates} />}
      <LazyDetails label="State" value={state.values} />
      <Group gap={4} mt={4}>
        <Button size="compact-xs" variant={isViewed ? "light" : "default"} onClick={() => onView(isViewed ? null : id)}>
          {isViewed ? "Back to latest" : "View"}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => onRunFrom(state)}>
          Run from here
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => onEdit(state)}>
          Edit state
        </Button>
      </Group>
    </section>
  );
}

/** Rendered only when opened: a state may be large, and there are many. */
function LazyDetails({ label, value }: { label: string; value: unknown }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Text span size="xs">
          {label}
        </Text>
      </summary>
      {isOpen && <JsonView value={value} label={label} maxHeight="20rem" />}
    </details>
  );
}
