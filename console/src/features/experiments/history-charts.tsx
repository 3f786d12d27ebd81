import { SimpleGrid } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";

import { Chart } from "../../ui/chart.tsx";
import { Empty } from "../../ui/empty.tsx";
import { duration, durationTicks, money, percent } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { historyQuery } from "./queries.ts";
import { formatScore } from "./wording.ts";

/** Keys that have a chart; the others are in the table of experiments. */
const MAX_CHARTS = 6;

/** Scores of a dataset's experiments over time with their intervals, and cost and latency. */
export function HistoryCharts({ datasetId }: { datasetId: string }) {
  const navigate = useNavigate();
  const found = useQuery(historyQuery(datasetId));
  const history = found.data;
  const times = useMemo(
    () => (history?.experiments ?? []).map(({ start_time: start }) => Date.parse(start) / 1000),
    [history],
  );
  if (!history) return <LoadState query={found} rows={10} />;
  if (history.experiments.length < 2) {
    return <Empty title="Not enough experiments">Scores over time are shown from two experiments on.</Empty>;
  }
  const { experiments, keys } = history;
  const baseline = experiments.find(({ id }) => id === history.baseline_experiment_id);
  const markers = baseline && [{ time: Date.parse(baseline.start_time) / 1000, label: `Baseline: ${baseline.name}` }];
  const open = (index: number) => {
    const { id } = experiments[index]!;
    const against = history.baseline_experiment_id ?? experiments[0]!.id;
    const selectedSessions = [...new Set([against, id])].join(",");
    void navigate({ to: "/datasets/$datasetId", params: { datasetId }, search: { tab: "compare", selectedSessions } });
  };
  const common = { times, markers, onPick: open };
  return (
    <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="sm" mb="sm">
      {keys.slice(0, MAX_CHARTS).map(({ key }) => (
        <Chart
          key={key}
          {...common}
          title={key}
          format={formatScore}
          series={[
            { label: "average", values: experiments.map(({ scores }) => scores[key]?.mean ?? null) },
            {
              label: "interval from",
              values: experiments.map(({ scores }) => scores[key]?.interval?.[0] ?? null),
              before: 0,
            },
            {
              label: "to",
              values: experiments.map(({ scores }) => scores[key]?.interval?.[1] ?? null),
              before: 0,
            },
          ]}
        />
      ))}
      <Chart
        {...common}
        title="Latency"
        format={duration}
        formatTicks={durationTicks}
        series={(["latency_p50", "latency_p95"] as const).map((name) => ({
          label: name === "latency_p50" ? "P50" : "P95",
          values: experiments.map((each) => (each[name] == null ? null : each[name] * 1000)),
        }))}
      />
      <Chart
        {...common}
        title="Cost"
        format={money}
        series={[{ label: "total", values: experiments.map((each) => each.total_cost) }]}
      />
      <Chart
        {...common}
        title="Errors"
        format={percent}
        series={[{ label: "share of runs", color: "danger", values: experiments.map((each) => each.error_rate) }]}
      />
    </SimpleGrid>
  );
}
