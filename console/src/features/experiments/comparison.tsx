import { Button, Group, Select, Stack, Switch, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { ColumnPicker } from "../../ui/column-picker.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { counted } from "../../ui/format.ts";
import { Filters } from "../../ui/filters.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { datasetQuery } from "../datasets/queries.ts";
import { ComparedExample } from "./compared-example.tsx";
import { comparisonColumns } from "./comparison-columns.tsx";
import { type ComparisonSearch, ORDERS, readOnly } from "./comparison-search.ts";
import { changeView, readView } from "./comparison-view.ts";
import { ExperimentCards } from "./experiment-cards.tsx";
import { comparisonQuery, saveView, viewQuery } from "./queries.ts";

interface ComparisonProps {
  datasetId: string;
  experiments: string[];
  search: ComparisonSearch;
  onSearch: (changes: Partial<ComparisonSearch>) => void;
  onChoose: () => void;
}

/** As many as the server compares. */
const MAX_EXPERIMENTS = 10;
const ORDER_LABELS = { regressions: "Regressions first", improvements: "Improvements first", example: "By example" };

/** Experiments beside each other: averages and differences, then a row per example. */
export function Comparison({ datasetId, experiments: requested, search, onSearch, onChoose }: ComparisonProps) {
  const client = useQueryClient();
  const experiments = requested.slice(0, MAX_EXPERIMENTS);
  const found = useInfiniteQuery(comparisonQuery(datasetId, experiments, search));
  const dataset = useQuery(datasetQuery(datasetId));
  const view = useQuery(viewQuery(datasetId));
  const [opened, setOpened] = useState<string | null>(null);
  const comparison = found.data?.pages[0];
  const keys = comparison?.keys.map(({ key }) => key) ?? [];
  const shown = readView(view.data ?? null, keys);
  const save = useMutation({
    mutationFn: ({ hidden, hasColors }: { hidden: readonly string[]; hasColors: boolean }) =>
      saveView(datasetId, view.data ?? null, changeView(view.data ?? null, keys, hidden, hasColors)),
    onSuccess: () => client.invalidateQueries({ queryKey: ["dataset", datasetId, "view"] }),
    onError: notifyFailure("Could not save the columns"),
  });
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.rows) ?? [], [found.data]);
  const names = useMemo(
    () => new Map((comparison?.experiments ?? []).map(({ id, name }) => [id, name])),
    [comparison?.experiments],
  );
  const baseline = comparison?.baseline ?? experiments[0] ?? "";
  const columns = useMemo(() => {
    // the baseline is first, whatever was selected first
    const ordered = [baseline, ...experiments.filter((id) => id !== baseline)];
    return comparisonColumns({ names, experiments: ordered, baseline, keys: comparison?.keys ?? [], ...shown });
  }, [experiments.join(), names, baseline, comparison?.keys, shown.hidden.join(), shown.plain.join()]);
  if (experiments.length === 0) {
    return (
      <Empty title="No experiments selected">
        <Button size="xs" onClick={onChoose}>
          Select experiments
        </Button>
      </Empty>
    );
  }
  if (!comparison || view.data === undefined || dataset.isPending)
    return <LoadState query={[found, view, dataset]} rows={12} />;
  const hasColors = shown.plain.length < Math.max(1, keys.length);
  const pickable = [
    { id: "inputs", label: "Inputs" },
    { id: "reference_outputs", label: "Reference outputs" },
    ...keys.map((key) => ({ id: key, label: key })),
  ];
  const only = readOnly(search.only);
  return (
    <Stack gap="sm">
      {requested.length > MAX_EXPERIMENTS && (
        <Text size="sm">The first {MAX_EXPERIMENTS} of the selected experiments are compared.</Text>
      )}
      <ExperimentCards
        datasetId={datasetId}
        comparison={comparison}
        savedBaseline={dataset.data?.baseline_experiment_id ?? null}
        only={search.only}
        onOnly={(next) => onSearch({ only: next })}
      />
      <Group gap="sm">
        <Filters active={search.baseline === "" ? 0 : 1}>
          <Select
            size="xs"
            w={170}
            aria-label="Order of examples"
            allowDeselect={false}
            value={search.order}
            data={ORDERS.map((value) => ({ value, label: ORDER_LABELS[value] }))}
            onChange={(order) => onSearch({ order: order as ComparisonSearch["order"] })}
          />
          <Select
            size="xs"
            w={220}
            aria-label="Baseline"
            allowDeselect={false}
            value={baseline}
            data={comparison.experiments.map(({ id, name }) => ({ value: id, label: `Baseline: ${name}` }))}
            onChange={(id) => onSearch({ baseline: id ?? "" })}
          />
          <ColumnPicker
            columns={pickable}
            hidden={shown.hidden}
            onChange={(hidden) => save.mutate({ hidden, hasColors })}
          />
          <Switch
            size="xs"
            label="Colours"
            checked={hasColors}
            onChange={({ currentTarget: { checked } }) => save.mutate({ hidden: shown.hidden, hasColors: checked })}
          />
          <ReviewPairsButton datasetId={datasetId} experiments={experiments} baseline={baseline} />
        </Filters>
        <Text size="xs" c="dimmed" role="status">
          {counted(comparison.total, "example")}
          {only && ` with ${only.change} ${only.key ?? only.metric}`}
        </Text>
        {only && (
          <Button size="compact-xs" variant="subtle" onClick={() => onSearch({ only: "" })}>
            Show all
          </Button>
        )}
      </Group>
      <DataTable
        label="Experiment comparison"
        columns={columns}
        rows={rows}
        hidden={shown.hidden}
        rowKey={({ example_id: id }) => id}
        rowHeight={76 + 24 * Math.max(1, Math.ceil((keys.length - shown.hidden.length) / 2))}
        onOpen={({ example_id: id }) => setOpened(id)}
        pages={found}
        maxHeight="calc(100dvh - 120px)"
      />
      <ComparedExample
        datasetId={datasetId}
        experiments={experiments}
        baseline={baseline}
        names={names}
        exampleId={opened}
        onClose={() => setOpened(null)}
      />
    </Stack>
  );
}

/** Starts a pairwise review, of two experiments only. */
function ReviewPairsButton({
  datasetId,
  experiments,
  baseline,
}: {
  datasetId: string;
  experiments: string[];
  baseline: string;
}) {
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => {
      const other = experiments.find((id) => id !== baseline)!;
      const body = { experiment_ids: [baseline, other], key: "preference" };
      return data(traceApi.POST("/api/v1/datasets/comparative/reviews", { body }));
    },
    onSuccess: ({ id }) =>
      navigate({ to: "/datasets/$datasetId/pairs/$comparisonId", params: { datasetId, comparisonId: id } }),
    onError: notifyFailure("Could not start the review"),
  });
  if (experiments.length !== 2) return null;
  return (
    <Button size="xs" variant="default" loading={start.isPending} onClick={() => start.mutate()}>
      Review pairs
    </Button>
  );
}
