import { Button, Group, Menu, SegmentedControl, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type CSSProperties, useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { compact, count, duration, money, percent } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { CommitLink } from "./commit-link.tsx";
import { CommitTags } from "./commit-tags.tsx";
import { commitMetrics, describeChange, type Metric, type MetricRow } from "./metric-rows.ts";
import { METRIC_DAYS } from "./prompt-search.ts";
import classes from "./prompts.module.css";
import { commitsQuery, type PromptName, type PromptRow, promptStatisticsQuery, promptTagsQuery } from "./queries.ts";
import { RunProjects } from "./run-projects.tsx";

interface CommitMetricsProps {
  name: PromptName;
  prompt: PromptRow;
  days: number;
  onDays: (days: number) => void;
}

/** Latency, errors, cost and feedback of the traces of each commit, compared with the commit before. */
export function CommitMetrics({ name, prompt, days, onDays }: CommitMetricsProps) {
  const statistics = useQuery(promptStatisticsQuery(name, days));
  const commits = useInfiniteQuery(commitsQuery(name));
  const { data: tags = [] } = useQuery(promptTagsQuery(name));
  if (!statistics.data || commits.isPending) return <LoadState query={[statistics, commits]} rows={6} />;
  const known = commits.data?.pages.flatMap((page) => page.commits ?? []) ?? [];
  const { metrics, rows } = commitMetrics(statistics.data, known);
  const columns: SimpleColumn<MetricRow>[] = [
    {
      title: "Commit",
      cell: ({ hash }) => (
        <Group gap={6}>
          <CommitLink name={name} hash={hash} />
          <CommitTags tags={tags} hash={hash} />
        </Group>
      ),
      width: 190,
    },
    {
      title: "Traces",
      cell: ({ statistics: { run_count: traces, commit_hash: hash } }) => (
        <RunsMenu hash={hash} days={days} label={count(traces)} />
      ),
      width: 90,
      align: "right",
    },
    ...metrics.map((metric): SimpleColumn<MetricRow> => ({
      title: metric.title,
      cell: (row) => <MetricBar metric={metric} row={row} />,
    })),
    { title: "Last run", cell: ({ statistics: { last_run_at: at } }) => <TimeText at={at} />, width: 100 },
  ];
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={720}>
          Traces in which the prompt was pulled, by commit. Arrows compare a commit with the one below it. Cost and
          tokens are averages per trace.
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Range"
          data={METRIC_DAYS.map((value) => ({
            value: String(value),
            label: value === 1 ? "24 hours" : `${value} days`,
          }))}
          value={String(days)}
          onChange={(value) => onDays(Number(value))}
        />
      </Group>
      {rows.length === 0 ? (
        <Empty title="No traces with this prompt">
          The SDKs add the prompt and its commit to the metadata of a pulled prompt, so traces of LangChain appear here.
          Other code sets lc_hub_owner, lc_hub_repo and lc_hub_commit_hash in a run&apos;s metadata.
        </Empty>
      ) : (
        <SimpleTable
          label={`Metrics of ${prompt.repo_handle} by commit`}
          rows={rows}
          rowKey={({ hash }) => hash}
          minWidth={420 + 130 * metrics.length}
          columns={columns}
        />
      )}
    </Stack>
  );
}

const FORMATS: Record<Metric["unit"], (value: number | null) => string> = {
  milliseconds: duration,
  share: percent,
  dollars: money,
  tokens: compact,
  score: (value) => (value === null ? "–" : String(Number(value.toFixed(2)))),
};

function MetricBar({ metric, row }: { metric: Metric; row: MetricRow }) {
  const value = row.values[metric.id] ?? null;
  const share = value === null || metric.most === 0 ? 0 : Math.max(0, value) / metric.most;
  const change = describeChange(metric, value, row.before[metric.id] ?? null);
  return (
    <>
      <Text
        span
        size="sm"
        className={`${classes["bar"]} numbers`}
        data-tone={metric.id === "errors" || change?.isWorse ? "bad" : undefined}
        style={{ "--share": `${Math.round(share * 100)}%` } as CSSProperties}
      >
        {FORMATS[metric.unit](value)}
      </Text>
      <Text
        span
        size="xs"
        fw={600}
        px={6}
        className="numbers"
        c={change?.isWorse ? "var(--heddle-danger)" : "var(--heddle-success)"}
        style={{ whiteSpace: "nowrap" }}
      >
        {change && (
          <>
            <VisuallyHidden>{change.isWorse ? "Worse: " : "Better: "}</VisuallyHidden>
            {change.isUp ? "▲" : "▼"} {change.text}
          </>
        )}
      </Text>
    </>
  );
}

/** Menu of the projects that have traces of a commit, with links to them. */
function RunsMenu({ hash, days, label }: { hash: string; days: number; label: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" width={260}>
      <Menu.Target>
        <Button size="compact-xs" variant="subtle" className="numbers" aria-label={`View ${label} traces`}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{isOpen && <RunProjects hash={hash} days={days} />}</Menu.Dropdown>
    </Menu>
  );
}
