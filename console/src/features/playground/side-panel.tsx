import { Button, Group, Skeleton, Tabs, Text } from "@mantine/core";
import { type ComponentProps, lazy, Suspense } from "react";

import type { NodeState } from "../../ui/graph-view/graph-view.tsx";
import type { Drawing } from "../../ui/graph-view/layout.ts";
import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import classes from "./playground.module.css";
import type { AgentsPanel as Agents } from "./agents-panel.tsx";
import type { SetupPanel as Setup } from "./setup-panel.tsx";
import type { StepsPanel as Steps } from "./steps-panel.tsx";

const GraphView = lazy(async () => ({ default: (await import("../../ui/graph-view/graph-view.tsx")).GraphView }));
const AgentsPanel = lazy(async () => ({ default: (await import("./agents-panel.tsx")).AgentsPanel }));
const SetupPanel = lazy(async () => ({ default: (await import("./setup-panel.tsx")).SetupPanel }));
const StepsPanel = lazy(async () => ({ default: (await import("./steps-panel.tsx")).StepsPanel }));

export type Panel = "graph" | "steps" | "agents" | "setup";

interface SidePanelProps {
  panel: Panel;
  onPanel: (panel: Panel) => void;
  drawing: Drawing | undefined;
  drawingError: Error | null;
  nodeStates: ReadonlyMap<string, NodeState>;
  steps: ComponentProps<typeof Steps>;
  /** Undefined for a graph without subgraphs. */
  agents: ComponentProps<typeof Agents> | undefined;
  setup: ComponentProps<typeof Setup>;
}

export function SidePanel({ panel, onPanel, drawing, drawingError, nodeStates, steps, agents, setup }: SidePanelProps) {
  return (
    <Tabs
      className={classes.side}
      value={panel === "agents" && !agents ? "graph" : panel}
      onChange={(next) => next !== null && onPanel(next as Panel)}
      keepMounted={false}
    >
      <TabList>
        <Tabs.Tab value="graph">Graph</Tabs.Tab>
        <Tabs.Tab value="steps">Steps</Tabs.Tab>
        {agents && <Tabs.Tab value="agents">Sub-agents</Tabs.Tab>}
        <Tabs.Tab value="setup">Setup</Tabs.Tab>
      </TabList>
      <Tabs.Panel value="graph" className={classes.panel} data-fill="true">
        {drawingError ? (
          <Problem error={drawingError} title="Could not load the graph" />
        ) : drawing === undefined ? (
          <Skeleton h="100%" />
        ) : (
          <>
            <Group gap="xs" mb={6} justify="space-between" wrap="nowrap">
              <Text size="xs" c="dimmed" truncate>
                {setup.draft.before.length === 0
                  ? "A node's dot stops runs before it"
                  : `Stops before ${setup.draft.before.join(", ")}`}
              </Text>
              <Button
                size="compact-xs"
                variant={setup.draft.isStepping ? "light" : "default"}
                style={{ flexShrink: 0 }}
                aria-pressed={setup.draft.isStepping}
                title="Each run stops before every node"
                onClick={() => setup.onChange({ ...setup.draft, isStepping: !setup.draft.isStepping })}
              >
                Step through
              </Button>
            </Group>
            <div className={classes.graph}>
              <Suspense fallback={<Skeleton h="100%" />}>
                <GraphView
                  drawing={drawing}
                  states={nodeStates}
                  breakpoints={new Set(setup.draft.before)}
                  onBreakpoint={(id) => setup.onChange({ ...setup.draft, before: toggled(setup.draft.before, id) })}
                />
              </Suspense>
            </div>
          </>
        )}
      </Tabs.Panel>
      <Tabs.Panel value="steps" className={classes.panel} tabIndex={0}>
        <Suspense fallback={<Loading />}>
          <StepsPanel {...steps} />
        </Suspense>
      </Tabs.Panel>
      {agents && (
        <Tabs.Panel value="agents" className={classes.panel} tabIndex={0}>
          <Suspense fallback={<Loading />}>
            <AgentsPanel {...agents} />
          </Suspense>
        </Tabs.Panel>
      )}
      <Tabs.Panel value="setup" className={classes.panel}>
        <Suspense fallback={<Loading />}>
          <SetupPanel {...setup} />
        </Suspense>
      </Tabs.Panel>
    </Tabs>
  );
}

const toggled = (names: readonly string[], name: string): string[] =>
  names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
