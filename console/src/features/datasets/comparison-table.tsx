import { Button, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import { describeFeedback, type FeedbackStatistics, runLatency } from "../runs/run-record.ts";
import { StatusDot } from "../runs/status-dot.tsx";
import { comparisonQuery, type ExampleWithRuns, experimentsQuery } from "./queries.ts";
import { formatDelta, formatScore, readScores, sumRegressions } from "./scores.ts";

interface ComparisonTableProps {
  datasetId: string;
  experiments: string[];
  onChoose: () => void;
}

/**
 * A row per example, those with the largest regressions first, and a column per experiment with its result for the
 * example. The first experiment is the baseline of the others.
 */
export function ComparisonTable({ datasetId, experiments, onChoose }: ComparisonTableProps) {
  const known = useQuery(experimentsQuery(datasetId));
  const found = useInfiniteQuery(comparisonQuery(datasetId, experiments));
  const rows = useMemo(() => {
    const all = (found.data?.pages.flat() ?? []).map((row) => ({ row, regressions: sumRegressions(row, experiments) }));
    return all.toSorted((a, b) => b.regressions - a.regressions).map(({ row }) => row);
  }, [found.data, experiments.join()]);
  const scoreKeys = new Set(
    rows.flatMap(({ runs }) => runs.flatMap((run) => [...readScores(run.feedback_stats).keys()])),
  );
  const columns = useMemo((): Column<ExampleWithRuns>[] => {
    const experimentById = (id: string) => known.data?.find((experiment) => experiment.id === id);
    const [baseline] = experiments;
    const experimentName = (id: string) => experimentById(id)?.name ?? id.slice(-8);
    return [
      { id: "inputs", header: "Inputs", width: "minmax(200px, 1.2fr)", cell: ({ inputs }) => <Lines value={inputs} /> },
      {
        id: "reference",
        header: "Reference outputs",
        width: "minmax(180px, 1fr)",
        cell: ({ outputs }) => <Lines value={outputs} />,
      },
      ...experiments.map((id): Column<ExampleWithRuns> => ({
        id,
        label: experimentName(id),
        header: (
          <Stack gap={2} miw={0} w="100%" py={6}>
            <Group gap={6} wrap="nowrap">
              <AnchorLink to="/projects/$projectId" params={{ projectId: id }} size="xs" truncate>
                {experimentName(id)}
              </AnchorLink>
              {id === baseline && experiments.length > 1 && (
                <Text size="xs" c="dimmed" fw={400}>
                  Baseline
                </Text>
              )}
            </Group>
            <Scores
              stats={experimentById(id)?.feedback_stats}
              baseline={id === baseline ? undefined : experimentById(baseline!)?.feedback_stats}
              label={`Average scores of ${experimentName(id)}`}
            />
          </Stack>
        ),
        width: "minmax(240px, 1.4fr)",
        cell: ({ runs }) => (
          <Outcomes
            runs={runs.filter((run) => run.session_id === id)}
            baseline={id === baseline ? undefined : runs.find((run) => run.session_id === baseline)}
          />
        ),
      })),
    ];
  }, [experiments.join(), known.data]);
  if (experiments.length === 0) {
    return (
      <Empty title="No experiments selected">
        <Button size="xs" onClick={onChoose}>
          Select experiments
        </Button>
      </Empty>
    );
  }
  if (found.error) return <Problem error={found.error} onRetry={found.refetch} />;
  // the header contains the experiments' scores: without them it would grow under the reader
  if (found.isPending || known.isPending) return <Loading rows={8} />;
  return (
    <DataTable
      label="Experiment comparison"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowHeight={72 + 20 * Math.max(1, Math.ceil(scoreKeys.size / 2))}
      onEnd={() => void (found.hasNextPage && !found.isFetchingNextPage && found.fetchNextPage())}
    />
  );
}

interface OutcomesProps {
  runs: ExampleWithRuns["runs"];
  /** Run of the baseline for the same example. */
  baseline: ExampleWithRuns["runs"][number] | undefined;
}

function Outcomes({ runs, baseline }: OutcomesProps) {
  if (runs.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No run
      </Text>
    );
  }
  const [run] = runs;
  const { id, status, error, outputs_preview: outputs, session_id: projectId, feedback_stats: feedback } = run!;
  return (
    <Stack gap={2} style={{ minWidth: 0 }} w="100%">
      <Text size="sm" lineClamp={2} style={{ whiteSpace: "normal", overflowWrap: "anywhere" }}>
        {error ?? outputs ?? "–"}
      </Text>
      <Group gap={6} wrap="nowrap">
        <StatusDot status={status} />
        <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: id }} size="xs">
          {duration(runLatency(run!))}
        </AnchorLink>
        {runs.length > 1 && (
          <Text size="xs" c="dimmed">
            1 of {runs.length}
          </Text>
        )}
      </Group>
      <Scores stats={feedback} baseline={baseline?.feedback_stats} label="Scores" />
    </Stack>
  );
}

interface ScoresProps {
  stats: unknown;
  baseline: unknown;
  label: string;
}

/** Scores with their differences from the baseline's, and other feedback. */
function Scores({ stats, baseline, label }: ScoresProps) {
  const scores = [...readScores(stats)];
  const before = readScores(baseline);
  const others = Object.entries((stats ?? {}) as Record<string, FeedbackStatistics>).filter(
    ([, { avg }]) => avg == null,
  );
  return (
    <Group gap="2px 10px" component="ul" aria-label={label} p={0} m={0} style={{ listStyle: "none" }}>
      {scores.map(([key, score]) => {
        const delta = formatDelta(score, before.get(key));
        const color = delta?.startsWith("+") ? "var(--heddle-better)" : "var(--mantine-color-error)";
        return (
          <Text key={key} size="xs" component="li" className="numbers" fw={400} style={{ overflowWrap: "anywhere" }}>
            {key} {formatScore(score)}
            {delta !== null && (
              <Text span inherit fw={600} c={color}>
                {" "}
                {delta.startsWith("+") ? "▲" : "▼"} {delta}
              </Text>
            )}
          </Text>
        );
      })}
      {others.map(([key, statistics]) => (
        <Text key={key} size="xs" component="li" fw={400}>
          {describeFeedback(key, statistics)}
        </Text>
      ))}
    </Group>
  );
}

function Lines({ value }: { value: unknown }) {
  const text = value == null ? "–" : JSON.stringify(value);
  return (
    <Text size="sm" lineClamp={3} title={text.slice(0, 600)} style={{ whiteSpace: "normal", overflowWrap: "anywhere" }}>
      {text.slice(0, 400)}
    </Text>
  );
}
