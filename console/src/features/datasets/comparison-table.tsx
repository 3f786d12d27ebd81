import { Button, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import { FeedbackChips } from "../runs/feedback-chips.tsx";
import { runLatency } from "../runs/run-record.ts";
import { StatusDot } from "../runs/status-dot.tsx";
import { comparisonQuery, type ExampleWithRuns, experimentsQuery } from "./queries.ts";

interface ComparisonTableProps {
  datasetId: string;
  experiments: string[];
  onChoose: () => void;
}

/** A row per example, a column per experiment, with the experiment's result for the example. */
export function ComparisonTable({ datasetId, experiments, onChoose }: ComparisonTableProps) {
  const known = useQuery(experimentsQuery(datasetId));
  const found = useInfiniteQuery(comparisonQuery(datasetId, experiments));
  const rows = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  const columns = useMemo((): Column<ExampleWithRuns>[] => {
    const experimentName = (id: string) => known.data?.find((experiment) => experiment.id === id)?.name ?? id.slice(-8);
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
          <AnchorLink to="/projects/$projectId" params={{ projectId: id }} size="xs" truncate>
            {experimentName(id)}
          </AnchorLink>
        ),
        width: "minmax(240px, 1.4fr)",
        cell: ({ runs }) => <Outcomes runs={runs.filter((run) => run.session_id === id)} />,
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
  if (found.isPending) return <Loading rows={8} />;
  return (
    <DataTable
      label="Experiment comparison"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowHeight={84}
      onEnd={() => void (found.hasNextPage && !found.isFetchingNextPage && found.fetchNextPage())}
    />
  );
}

function Outcomes({ runs }: { runs: ExampleWithRuns["runs"] }) {
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
        <FeedbackChips stats={feedback} />
      </Group>
    </Stack>
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
