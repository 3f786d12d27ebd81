import { Alert, Code, Group, ScrollArea, Stack, Tabs, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { count, duration, fullTime, money } from "../../ui/format.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { Tags } from "../runs/run-columns.tsx";
import { RunIcon } from "../runs/run-icon.tsx";
import { type AnyRun, modelName, timeToFirstToken, runLatency, utc } from "../runs/run-record.ts";
import { describeBasis } from "./describe-basis.ts";
import { LlmCall } from "./llm-call.tsx";
import { listAttachments, RunAttachments } from "./run-attachments.tsx";
import { RunError } from "./run-error.tsx";
import { RunEvents } from "./run-events.tsx";
import type { View } from "./trace-search.ts";
import { RunValue } from "./run-value.tsx";

interface RunPaneProps {
  run: AnyRun;
  view: View;
  onView: (view: View) => void;
  /** Buttons for actions on the run. */
  actions?: ReactNode;
  /** Links to the run's origin. */
  origin?: ReactNode;
  feedback: ReactNode;
  feedbackCount: number | null;
}

/** Details of one run. */
export function RunPane({ run, view, onView, actions, origin, feedback, feedbackCount }: RunPaneProps) {
  const attachments = listAttachments(run);
  const { metadata, runtime, ...extra } = (run.extra ?? {}) as Record<string, unknown>;
  return (
    <article aria-label={`Run ${run.name}`}>
      <Group gap={8} mb={6} wrap="nowrap" align="flex-start">
        <Group gap={8} style={{ flex: 1, minWidth: 0 }}>
          <RunIcon type={run.run_type} size={18} />
          <Title order={2} size="h5" style={{ overflowWrap: "anywhere" }}>
            {run.name || "Unnamed"}
          </Title>
          <StatusBadge status={run.status} />
        </Group>
        <Group gap={4} wrap="nowrap">
          <CopyButton value={run.id} label="Copy run ID" />
          {actions}
        </Group>
      </Group>
      <Statistics run={run} />
      {run.run_type === "llm" && <LlmCall key={run.id} run={run} />}
      {origin}
      <Tabs value={view} onChange={(next) => onView((next ?? "run") as View)} keepMounted={false} mt="xs">
        <TabList>
          <Tabs.Tab value="run">Run</Tabs.Tab>
          <Tabs.Tab value="feedback">Feedback{feedbackCount === null ? "" : ` (${feedbackCount})`}</Tabs.Tab>
          <Tabs.Tab value="metadata">Metadata</Tabs.Tab>
          <Tabs.Tab value="raw">Raw</Tabs.Tab>
        </TabList>
        <Tabs.Panel value="run" pt="sm">
          <Stack gap="md">
            {run.error != null && <RunError error={run.error} status={run.status} />}
            <RunValue key={`in ${run.id}`} title="Input" value={run.inputs} />
            {run.status === "incomplete" && (
              <Alert color="neutral" variant="light">
                The end of this run has not arrived. Its process was probably killed. An end that arrives later still
                counts.
              </Alert>
            )}
            {run.status === "pending" && run.outputs == null ? (
              <Alert color="info" variant="light">
                The run is in progress. Its output appears here when it ends.
              </Alert>
            ) : (
              <RunValue key={`out ${run.id}`} title="Output" value={run.outputs} />
            )}
            {attachments.length > 0 && <RunAttachments attachments={attachments} />}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="feedback" pt="sm">
          {feedback}
        </Tabs.Panel>
        <Tabs.Panel value="metadata" pt="sm">
          <Stack gap="md">
            {(run.tags?.length ?? 0) > 0 && (
              <section aria-label="Tags">
                <Title order={2} size="h6" mb={4}>
                  Tags
                </Title>
                <Group gap={4}>
                  <Tags tags={run.tags!} />
                </Group>
              </section>
            )}
            <Part title="Metadata" value={metadata} />
            <Part title="Events" value={run.events}>
              <RunEvents events={run.events} start={run.start_time} />
            </Part>
            <Part title="Runtime" value={runtime} />
            <Part title="Extra" value={extra} />
            <Part title="Serialized" value={run.serialized} />
            <Ids run={run} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt="sm">
          <JsonView key={run.id} value={run} label="run" maxHeight="70vh" />
        </Tabs.Panel>
      </Tabs>
    </article>
  );
}

/** Tokens of an LLM call by direction; of other runs, the sum of their calls. */
function tokenStatistics(run: AnyRun): [string, string, string?][] {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = run;
  if (run.run_type !== "llm") return [["tokens", count(total), `${input ?? 0} in, ${output ?? 0} out`]];
  const cached = Number(run.prompt_token_details?.["cache_read"] ?? 0);
  return [
    ["tokens in", count(input)],
    ...(cached > 0 ? ([["cached", count(cached)]] as [string, string][]) : []),
    ["tokens out", count(output)],
  ];
}

function Statistics({ run }: { run: AnyRun }) {
  const model = run.run_type === "llm" ? modelName(run) : null;
  const statistics: [string, string, string?][] = [
    ["latency", duration(runLatency(run)), run.end_time == null ? undefined : fullTime(utc(run.end_time))],
    ...tokenStatistics(run),
  ];
  // most runs have neither, and a dash is not informative
  const firstToken = timeToFirstToken(run);
  if (firstToken !== null) statistics.splice(1, 0, ["first token", duration(firstToken)]);
  if (run.total_cost != null) {
    statistics.push(["cost", money(run.total_cost), `${money(run.prompt_cost)} in, ${money(run.completion_cost)} out`]);
  }
  const basis = describeBasis(run.cost_basis);
  return (
    <Group gap="md" aria-label="Metrics" style={{ rowGap: 2 }}>
      {model !== null && (
        <Text size="sm" fw={500} title="Model" style={{ overflowWrap: "anywhere" }}>
          {model}
        </Text>
      )}
      {statistics.map(([name, value, title]) => (
        <Text key={name} size="sm" className="numbers" title={title}>
          {value}{" "}
          <Text span inherit c="dimmed">
            {name}
          </Text>
        </Text>
      ))}
      <Text size="sm" c="dimmed" title={utc(run.start_time)}>
        {fullTime(utc(run.start_time))}
      </Text>
      {basis.length > 0 && (
        <Text size="xs" c="dimmed" w="100%" aria-label="How the cost was computed" style={{ overflowWrap: "anywhere" }}>
          {basis.join(" · ")}
        </Text>
      )}
    </Group>
  );
}

/** Section of the metadata; renders nothing when it is empty. */
function Part({ title, value, children }: { title: string; value: unknown; children?: ReactNode }) {
  if (value == null || (typeof value === "object" && Object.keys(value).length === 0)) return null;
  return (
    <section aria-label={title}>
      <Title order={2} size="h6" mb={4}>
        {title}
      </Title>
      {children ?? <JsonView value={value} label={title.toLowerCase()} />}
    </section>
  );
}

function Ids({ run }: { run: AnyRun }) {
  const ids = [
    ["Run", run.id],
    ["Trace", run.trace_id],
    ["Parent", run.parent_run_id],
    ["Thread", run.thread_id],
    ["Example", run.reference_example_id],
  ] as const;
  return (
    <section aria-label="IDs">
      <Title order={2} size="h6" mb={4}>
        IDs
      </Title>
      <ScrollArea>
        {ids.map(
          ([name, id]) =>
            id != null && (
              <Group key={name} gap={6} wrap="nowrap">
                <Text size="xs" c="dimmed" w={60}>
                  {name}
                </Text>
                <Code>{id}</Code>
                <CopyButton value={id} label={`Copy ID: ${name}`} />
              </Group>
            ),
        )}
      </ScrollArea>
    </section>
  );
}
