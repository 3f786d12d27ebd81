import { Anchor, Box, Group, Paper, Skeleton, Table, Text, Title, UnstyledButton } from "@mantine/core";
import { lazy, Suspense, useState } from "react";

import { type ChartMarker, type ChartProps, type ChartSeries, DASH, seriesColor } from "./chart-props.ts";
import { fullTime } from "./format.ts";

const Plot = lazy(() => import("./plot.tsx"));
const HEIGHT = 180;

/** Time series chart with the values at the pointer; also available as a table. */
export function Chart({ actions, ...props }: ChartProps) {
  const { title, times, series, format, note, lead, kind } = props;
  const [at, setAt] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const isEmpty = series.every(({ values }) => values.every((value) => value === null));
  const shown = at ?? times.length - 1;
  const near = at === null ? [] : markersAt(props.markers ?? [], times, at);
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Group justify="space-between" wrap="nowrap" mb={4} gap="xs">
        <Title order={2} size="h6" lineClamp={1}>
          {title}
          {note !== undefined && (
            <Text span size="xs" c="dimmed" ms={6} fw={400}>
              {note}
            </Text>
          )}
        </Title>
        <Group gap={6} wrap="nowrap">
          {!isEmpty && (
            <UnstyledButton onClick={() => setTable(!isTable)} aria-pressed={isTable} style={{ flexShrink: 0 }}>
              <Text size="xs" c="dimmed" td="underline">
                {isTable ? "Chart" : "Table"}
              </Text>
            </UnstyledButton>
          )}
          {actions}
        </Group>
      </Group>
      {lead !== undefined && (
        <Group gap={8} align="baseline" mb={4} mih={26} role="group" aria-label={`${title} overall`}>
          <Text fz="xl" fw={700} lh={1.3} className="numbers">
            {lead?.value ?? "–"}
          </Text>
          {lead?.change !== undefined && (
            <Text size="xs" c="dimmed">
              {lead.change}
            </Text>
          )}
        </Group>
      )}
      <Box h={HEIGHT}>
        {isEmpty ? (
          <Text size="sm" c="dimmed" pt={HEIGHT / 2 - 20} ta="center">
            No data
          </Text>
        ) : isTable ? (
          <Values {...props} />
        ) : (
          <Suspense fallback={<Skeleton h={HEIGHT} />}>
            <Plot {...props} height={HEIGHT} onHover={setAt} />
          </Suspense>
        )}
      </Box>
      <Group gap="sm" mt={4} mih={20} aria-hidden={isTable}>
        {!isEmpty &&
          series.map((line, index) => (
            <Group key={line.label} gap={4} wrap="nowrap">
              <LineSample line={line} index={index} isBar={kind === "bars"} />
              <Text size="xs" className="numbers">
                {line.label} {at === null ? "" : line.values[shown] == null ? "–" : format(line.values[shown]!)}
              </Text>
            </Group>
          ))}
        {near.length > 0 && (
          <Text size="xs" fw={500}>
            {near.map(({ label }) => label).join(", ")}
          </Text>
        )}
        {at !== null && times[at] !== undefined && (
          <Text size="xs" c="dimmed" className="numbers" ms="auto">
            {fullTime(new Date(times[at]! * 1000).toISOString())}
          </Text>
        )}
      </Group>
    </Paper>
  );
}

/** Returns the events between a point and the next. */
const markersAt = (markers: readonly ChartMarker[], times: number[], at: number): ChartMarker[] => {
  const [start, end] = [times[at]!, times[at + 1] ?? Number.POSITIVE_INFINITY];
  return markers.filter(({ time }) => time >= start && time < end).slice(0, 3);
};

/** A piece of a series as the chart draws it: lines of the previous period also where there are bars. */
const LineSample = ({ line, index, isBar }: { line: ChartSeries; index: number; isBar: boolean }) => (
  <svg width={20} height={10} aria-hidden style={{ flexShrink: 0 }}>
    <line
      x1={isBar && line.before === undefined ? 6 : 0}
      x2={isBar && line.before === undefined ? 16 : 20}
      y1={5}
      y2={5}
      strokeWidth={isBar && line.before === undefined ? 10 : 2}
      stroke={`var(${seriesColor(line, index)})`}
      {...(line.before !== undefined && { strokeDasharray: DASH.join(" "), opacity: 0.7 })}
    />
  </svg>
);

/** Table of the moments that have values. */
function Values({ title, times, series, format, onPick }: ChartProps) {
  const rows = times
    .map((time, index) => ({ time, index, values: series.map(({ values }) => values[index] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null))
    .slice(-500);
  return (
    <Table.ScrollContainer
      minWidth={200}
      mah={HEIGHT}
      type="native"
      tabIndex={0}
      role="region"
      aria-label={`${title}, values`}
    >
      <Table verticalSpacing={2} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            {series.map(({ label }) => (
              <Table.Th key={label} ta="end">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ time, index, values }) => (
            <Table.Tr key={time}>
              <Table.Td>
                {onPick ? (
                  <Anchor component="button" type="button" size="sm" title="View runs" onClick={() => onPick(index)}>
                    {fullTime(new Date(time * 1000).toISOString())}
                  </Anchor>
                ) : (
                  fullTime(new Date(time * 1000).toISOString())
                )}
              </Table.Td>
              {values.map((value, index) => (
                <Table.Td key={series[index]!.label} ta="end" className="numbers">
                  {value === null ? "–" : format(value)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
