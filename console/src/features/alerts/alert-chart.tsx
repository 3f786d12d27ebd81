import { Box, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { Chart } from "../../ui/chart.tsx";
import { counted } from "../../ui/format.ts";
import { describeMetric, formatValue } from "./describe-alert.ts";
import { type AlertBody, type AlertPreview, alertPreviewQuery } from "./queries.ts";

interface AlertChartProps {
  projectId: string | null;
  /** Null while the rule is incomplete. */
  rule: AlertBody["rule"] | null;
  hours: number;
}

/** Height of the chart, so that nothing below moves when it is loaded. */
const HEIGHT = 270;

/** Values of a rule's metric with its threshold, and how often the rule would have fired. */
export const AlertChart = (props: AlertChartProps) => (
  <Box mih={HEIGHT}>
    <Loaded {...props} />
  </Box>
);

function Loaded({ projectId, rule, hours }: AlertChartProps) {
  const preview = useQuery(alertPreviewQuery(projectId, rule, hours));
  const { data } = preview;
  const chart = useMemo(() => data && plotted(data), [data]);
  if (preview.error) {
    return (
      <Text size="sm" c="var(--heddle-danger)" role="status">
        {preview.error.message}
      </Text>
    );
  }
  if (rule === null || data === undefined || chart === undefined) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {rule === null ? "Complete the condition to see how often it would have fired." : "Loading the past…"}
      </Text>
    );
  }
  const days = hours >= 48 ? `${Math.round(hours / 24)} days` : `${hours} hours`;
  const measured = { attribute: rule.attribute, aggregation: rule.aggregation, type: rule.type };
  return (
    <Chart
      title={describeMetric(measured)}
      note={`would have fired ${counted(data.fired, "time")} in the past ${days}`}
      times={chart.times}
      series={chart.series}
      markers={chart.markers}
      format={(value) => formatValue(measured, value)}
    />
  );
}

function plotted({ series, incidents }: AlertPreview) {
  const seconds = (at: string) => Date.parse(at) / 1000;
  const points = series[0]?.points ?? [];
  const lines = series.map(({ group, points }) => ({
    label: group === "" ? "Value" : group,
    values: points.map(({ value }) => value),
  }));
  return {
    times: points.map(({ at }) => seconds(at)),
    series: [
      ...lines,
      { label: "Threshold", values: points.map(({ threshold }) => threshold), color: "neutral" as const },
    ],
    markers: incidents.flatMap(({ fired_at, resolved_at, group }) => [
      { time: seconds(fired_at), label: group === "" ? "Fires" : `${group} fires` },
      ...(resolved_at === null
        ? []
        : [{ time: seconds(resolved_at), label: group === "" ? "Resolved" : `${group} resolved` }]),
    ]),
  };
}
