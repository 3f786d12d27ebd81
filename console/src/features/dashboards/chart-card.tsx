import { ActionIcon, Box, Group, Menu, Paper, Text, Title } from "@mantine/core";
import { IconDots, IconGripVertical } from "@tabler/icons-react";
import { useMemo, useRef } from "react";

import { Chart } from "../../ui/chart.tsx";
import type { ChartMarker, ChartSeries } from "../../ui/chart-props.ts";
import { durationTicks } from "../../ui/format.ts";
import { saveFile } from "../../ui/save-file.ts";
import { SimpleTable } from "../../ui/simple-table.tsx";
import {
  differenceText,
  displayOf,
  formatOf,
  type Lines,
  summary,
  toCsv,
  toLines,
  type Width,
  widthOf,
} from "./chart-series.ts";
import classes from "./dashboard.module.css";
import { HeatMap } from "./heat-map.tsx";
import { type ChartData, projectsOf } from "./queries.ts";
import { canvasDrawing, fileName, numberDrawing, savePng, tableDrawing } from "./save-png.ts";

/** What an owner of the chart can do with it; absent for a project's own dashboard. */
export interface ChartActions {
  edit: () => void;
  copy: () => void;
  remove: () => void;
  resize: (width: Width) => void;
  /** Moves it by places. */
  move: (by: 1 | -1) => void;
  /** Moves the chart with this id to its place. */
  take: (id: string) => void;
}

interface ChartCardProps {
  chart: ChartData;
  /** The same chart in the previous period. */
  before?: ChartData | undefined;
  /** Whether lines of the previous period are drawn. */
  showBefore: boolean;
  markers?: readonly ChartMarker[] | undefined;
  actions?: ChartActions | undefined;
  onPick: (chart: ChartData, start: number, end: number) => void;
  onZoom: (from: number, to: number) => void;
}

const HEIGHT = 180;
const MIME = "text/x-heddle-chart";

export function ChartCard({ chart, before, showBefore, markers, actions, onPick, onZoom }: ChartCardProps) {
  const box = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => toLines(chart), [chart]);
  const earlier = useMemo(() => before && toLines(before), [before]);
  const metric = chart.series[0]?.metric ?? "";
  const difference = describe(metric, lines, earlier);
  const display = displayOf(chart);
  const step = (lines.times[1] ?? 0) - (lines.times[0] ?? 0);
  const projects = projectsOf(chart);
  const marks = useMemo(
    () => markers?.filter(({ projectId: id }) => id === undefined || projects === null || projects.includes(id)),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- follows from the chart
    [markers, chart],
  );
  const isUnfiltered = (chart.unfiltered_series?.length ?? 0) > 0;
  const note =
    [isUnfiltered && "The filter does not apply to agents", difference].filter(Boolean).join(" · ") || undefined;
  const value = print(metric, lines.series[0]?.total);
  const drawingOf = () => {
    if (display === "number") return numberDrawing(value, difference);
    if (display !== "table") return canvasDrawing(box.current);
    const rows = totalsOf(metric, lines, earlier);
    return tableDrawing([["Name", "Now", "Before"], ...rows.map(({ label, now, before }) => [label, now, before])]);
  };
  const menu = (
    <ChartMenu
      chart={chart}
      actions={actions}
      save={() => {
        const drawing = drawingOf();
        if (drawing) void savePng(chart.title, drawing);
      }}
    />
  );
  return (
    <Box
      ref={box}
      className={classes["cell"]}
      style={{ "--chart-width": widthOf(chart) } as React.CSSProperties}
      onDragOver={(event) => {
        if (!actions || !event.dataTransfer.types.includes(MIME)) return;
        event.preventDefault();
        event.currentTarget.dataset["over"] = "true";
      }}
      onDragLeave={(event) => delete event.currentTarget.dataset["over"]}
      onDrop={(event) => {
        delete event.currentTarget.dataset["over"];
        const id = event.dataTransfer.getData(MIME);
        if (actions && id !== "" && id !== chart.id) actions.take(id);
      }}
    >
      {display === "line" || display === "bar" ? (
        <Chart
          title={chart.title}
          note={note}
          times={lines.times}
          series={showBefore && earlier ? withBefore(lines, earlier) : lines.series}
          format={formatOf(metric)}
          formatTicks={/^(latency|first_token)/.test(metric) ? secondTicks : undefined}
          kind={display === "bar" && lines.series.length === 1 ? "bars" : "line"}
          markers={marks}
          onPick={(index) => onPick(chart, lines.times[index]!, lines.times[index]! + step)}
          onZoom={onZoom}
          actions={menu}
        />
      ) : (
        <Paper withBorder p="sm" component="section" aria-label={chart.title}>
          <Group justify="space-between" wrap="nowrap" mb={4} gap="xs">
            <Title order={2} size="h6" lineClamp={1}>
              {chart.title}
            </Title>
            {menu}
          </Group>
          <Box mih={HEIGHT} mah={HEIGHT + 24} style={{ overflow: "auto" }}>
            {isUnfiltered && (
              <Text size="xs" c="dimmed">
                The filter does not apply to agents
              </Text>
            )}
            {display === "heatmap" && <HeatMap title={chart.title} data={chart.data} height={HEIGHT} />}
            {display === "number" && (
              <>
                <Text className={`${classes["big"]} numbers`}>{value}</Text>
                <Text size="sm" c="dimmed">
                  {difference}
                </Text>
              </>
            )}
            {display === "table" && (
              <SimpleTable
                label={chart.title}
                rows={totalsOf(metric, lines, earlier)}
                rowKey={({ label }) => label}
                minWidth={300}
                columns={[
                  { title: "Name", cell: ({ label }) => label },
                  { title: "Now", cell: ({ now }) => now, width: 90, align: "right" },
                  { title: "Before", cell: ({ before }) => before, width: 90, align: "right" },
                ]}
              />
            )}
          </Box>
        </Paper>
      )}
    </Box>
  );
}

const secondTicks = (values: readonly number[]) => durationTicks(values.map((value) => value * 1000));
const print = (metric: string, value: number | null | undefined) => (value == null ? "–" : formatOf(metric)(value));

/** For one line: its change in words. Distributions have none. */
function describe(metric: string, lines: Lines, earlier: Lines | undefined): string | undefined {
  const [line] = lines.series;
  if (!line || lines.series.length > 3 || line.total === null || !earlier) return undefined;
  const same = earlier.series.find(({ label }) => label === line.label);
  return differenceText(metric, line.total, same ? summary(metric, same.values) : null);
}

function withBefore(lines: Lines, earlier: Lines): ChartSeries[] {
  const previous = lines.series.flatMap(({ label, values, color }, index) => {
    const match = earlier.series.find((candidate) => candidate.label === label);
    if (!match) return [];
    return [
      { label: `${label}, previous`, values: values.map((_, at) => match.values[at] ?? null), before: index, color },
    ];
  });
  return [...lines.series, ...previous];
}

/** Rows of a table: the total of each line, largest first, and that of the previous period. */
function totalsOf(metric: string, lines: Lines, earlier: Lines | undefined) {
  const totalBefore = (label: string) => earlier?.series.find((line) => line.label === label)?.total;
  return lines.series
    .toSorted((a, b) => (b.total ?? 0) - (a.total ?? 0))
    .map(({ label, total }) => ({
      label,
      now: print(metric, total),
      before: print(metric, totalBefore(label)),
    }));
}

const WIDTHS: { width: Width; label: string }[] = [
  { width: 1, label: "A third wide" },
  { width: 2, label: "Two thirds wide" },
  { width: 3, label: "Full width" },
];

interface ChartMenuProps {
  chart: ChartData;
  actions: ChartActions | undefined;
  save: () => void;
}

function ChartMenu({ chart, actions, save }: ChartMenuProps) {
  return (
    <Group gap={0} wrap="nowrap">
      {actions && (
        <ActionIcon
          variant="subtle"
          color="neutral"
          size="sm"
          draggable
          aria-label={`Move ${chart.title}: arrow keys, or drag`}
          style={{ cursor: "grab" }}
          onDragStart={(event) => event.dataTransfer.setData(MIME, chart.id)}
          onKeyDown={(event) => {
            const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key] as 1 | -1 | undefined;
            if (by === undefined) return;
            event.preventDefault();
            actions.move(by);
          }}
        >
          <IconGripVertical size={14} aria-hidden />
        </ActionIcon>
      )}
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="neutral" size="sm" aria-label={`Actions of ${chart.title}`}>
            <IconDots size={14} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions && (
            <>
              <Menu.Item onClick={actions.edit}>Edit…</Menu.Item>
              <Menu.Item onClick={actions.copy}>Duplicate</Menu.Item>
              <Menu.Item onClick={() => actions.move(-1)}>Move earlier</Menu.Item>
              <Menu.Item onClick={() => actions.move(1)}>Move later</Menu.Item>
              <Menu.Divider />
              {WIDTHS.map(({ width, label }) => (
                <Menu.Item key={width} disabled={widthOf(chart) === width} onClick={() => actions.resize(width)}>
                  {label}
                </Menu.Item>
              ))}
              <Menu.Divider />
            </>
          )}
          <Menu.Item
            onClick={() => saveFile(new Blob([toCsv(chart)], { type: "text/csv" }), `${fileName(chart.title)}.csv`)}
          >
            Download CSV
          </Menu.Item>
          <Menu.Item onClick={save}>Download PNG</Menu.Item>
          {actions && (
            <>
              <Menu.Divider />
              <Menu.Item color="danger" onClick={actions.remove}>
                Delete
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
