import { Alert, Button, Grid, Group, Stack, Table, Tabs, Text, TextInput, Title, UnstyledButton } from "@mantine/core";
import { IconArrowsExchange } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";

import { DiffView } from "../../ui/diff-view.tsx";
import { count, duration, money } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { FeedbackChips } from "../runs/feedback-chips.tsx";
import { RunIcon } from "../runs/run-icon.tsx";
import { timeToFirstToken, runLatency, readMetadata, type Run, utc } from "../runs/run-record.ts";
import { RunError } from "../traces/run-error.tsx";
import { RunValue } from "../traces/run-value.tsx";
import { runQuery } from "../traces/queries.ts";
import classes from "./compare-page.module.css";
import { findRunId } from "./compare-search.ts";
import { similarRunsQuery } from "./queries.ts";

/** Two runs side by side with their differences. */
export function ComparePage() {
  const { a, b } = useSearch({ from: "/_shell/compare" });
  const navigate = useNavigate({ from: "/compare" });
  const first = useQuery({ ...runQuery(a ?? ""), enabled: a !== undefined });
  const second = useQuery({ ...runQuery(b ?? ""), enabled: b !== undefined });
  const choose = (side: "a" | "b") => (id: string) =>
    void navigate({ search: (before) => ({ ...before, [side]: id }), replace: true });
  return (
    <Page
      title="Compare runs"
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconArrowsExchange size={14} aria-hidden />}
          disabled={!a || !b}
          onClick={() => void navigate({ search: { a: b, b: a }, replace: true })}
        >
          Swap
        </Button>
      }
    >
      <Stack gap="md">
        <Grid>
          <Grid.Col span={{ base: 12, sm: 6 }}>
            <Side label="A" id={a} query={first} onChoose={choose("a")} like={second.data} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, sm: 6 }}>
            <Side label="B" id={b} query={second} onChoose={choose("b")} like={first.data} />
          </Grid.Col>
        </Grid>
        {first.data && second.data && <Comparison a={first.data} b={second.data} />}
      </Stack>
    </Page>
  );
}

interface SideProps {
  label: string;
  id: string | undefined;
  query: { data?: Run; error: Error | null; isPending: boolean; refetch: () => unknown };
  onChoose: (id: string) => void;
  /** The other run: runs with its name are suggested. */
  like: Run | undefined;
}

function Side({ label, id, query, onChoose, like }: SideProps) {
  if (id === undefined) return <RunPicker label={label} onChoose={onChoose} like={like} />;
  if (!query.data) return <LoadState query={query} rows={2} />;
  const run = query.data;
  return (
    <Group gap={8}>
      <Text fw={700}>{label}</Text>
      <RunIcon type={run.run_type} />
      <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId: run.session_id, runId: run.id }}>
        {run.name || "Unnamed"}
      </AnchorLink>
      <StatusBadge status={run.status} />
      <TimeText at={utc(run.start_time)} c="dimmed" />
      <FeedbackChips stats={run.feedback_stats} />
    </Group>
  );
}

function RunPicker({ label, onChoose, like }: Pick<SideProps, "label" | "onChoose" | "like">) {
  const [text, setText] = useState("");
  const id = findRunId(text.trim());
  const similar = useQuery(similarRunsQuery(like));
  return (
    <Stack gap="xs">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (id !== null) onChoose(id);
        }}
      >
        <Group gap="xs" align="flex-end">
          <TextInput
            size="xs"
            style={{ flex: 1 }}
            label={`${label}: run ID or URL`}
            value={text}
            onChange={({ currentTarget: { value } }) => setText(value)}
            error={text.trim() !== "" && id === null ? "No run ID found" : undefined}
          />
          <Button size="xs" type="submit" disabled={id === null}>
            Select
          </Button>
        </Group>
      </form>
      {(similar.data?.length ?? 0) > 0 && (
        <div>
          <Text size="xs" c="dimmed" mb={4}>
            Or a recent run with the same name:
          </Text>
          <Stack gap={2}>
            {similar.data!.map((run) => (
              <UnstyledButton key={run.id} className={classes.choice} onClick={() => onChoose(run.id)}>
                <Text size="xs" ff="monospace">
                  {run.id.slice(-8)}
                </Text>
                <TimeText at={utc(run.start_time)} size="xs" c="dimmed" />
                <Text size="xs" truncate miw={0}>
                  {run.inputs_preview}
                </Text>
              </UnstyledButton>
            ))}
          </Stack>
        </div>
      )}
    </Stack>
  );
}

function Comparison({ a, b }: { a: Run; b: Run }) {
  const statistics: [string, (run: Run) => number | null | undefined, (value: number | null) => string][] = [
    ["Latency", runLatency, duration],
    ["First token", timeToFirstToken, duration],
    ["Tokens", (run) => run.total_tokens, count],
    ["Tokens in", (run) => run.prompt_tokens, count],
    ["Tokens out", (run) => run.completion_tokens, count],
    ["Cost", (run) => (run.total_cost == null ? null : Number(run.total_cost)), money],
  ];
  const parts = [
    ["inputs", a.inputs, b.inputs],
    ["outputs", a.outputs, b.outputs],
    ["error", a.error, b.error],
    ["metadata", readMetadata(a), readMetadata(b)],
    ["tags", a.tags, b.tags],
  ] as const;
  return (
    <>
      <Table withTableBorder verticalSpacing={4} maw={720} aria-label="Metrics of both runs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Metric</Table.Th>
            <Table.Th ta="end">A</Table.Th>
            <Table.Th ta="end">B</Table.Th>
            <Table.Th ta="end">B vs. A</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {statistics.map(([name, read, print]) => {
            const [left, right] = [read(a) ?? null, read(b) ?? null];
            return (
              <Table.Tr key={name}>
                <Table.Td>{name}</Table.Td>
                <Table.Td ta="end" className="numbers">
                  {print(left)}
                </Table.Td>
                <Table.Td ta="end" className="numbers">
                  {print(right)}
                </Table.Td>
                <Table.Td ta="end" className="numbers">
                  {left === null || right === null || left === 0 ? "–" : `× ${(right / left).toFixed(2)}`}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      <Tabs defaultValue="diff" keepMounted={false}>
        <TabList>
          <Tabs.Tab value="diff">Differences</Tabs.Tab>
          <Tabs.Tab value="sides">Side by side</Tabs.Tab>
        </TabList>
        <Tabs.Panel value="diff" pt="sm">
          <Stack gap="lg">
            {parts.map(([name, left, right]) => (
              <section key={name} aria-label={`Differences in ${name}`}>
                <Title order={2} size="h6" mb={6} tt="capitalize">
                  {name}
                </Title>
                <DiffView before={left ?? null} after={right ?? null} names={[`${name} (A)`, `${name} (B)`]} />
              </section>
            ))}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="sides" pt="sm">
          <Grid>
            {[a, b].map((run, at) => (
              <Grid.Col key={run.id + String(at)} span={{ base: 12, sm: 6 }}>
                <Stack gap="md">
                  {run.error != null && <RunError error={run.error} status={run.status} />}
                  <RunValue title={`Input (${"AB"[at]})`} value={run.inputs} />
                  <RunValue title={`Output (${"AB"[at]})`} value={run.outputs} />
                </Stack>
              </Grid.Col>
            ))}
          </Grid>
        </Tabs.Panel>
      </Tabs>
      {a.id === b.id && (
        <Alert color="warning" variant="light">
          A and B are the same run.
        </Alert>
      )}
    </>
  );
}
