/** uPlot in React: recreated when the options change, updated when only the data does. */
import "uplot/dist/uPlot.min.css";

import { useComputedColorScheme } from "@mantine/core";
import { useElementSize, useMediaQuery } from "@mantine/hooks";
import { memo, useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";

import { type ChartMarker, type ChartProps, DASH, seriesColor } from "./chart-props.ts";

type PlotProps = ChartProps & { height: number; onHover: (index: number | null) => void };

const cssColor = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const precise = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** Formats moments; the date is shown where a day starts, or below the first. */
function formatTimes(moments: number[], step: number): string[] {
  let before = "";
  return moments.map((seconds) => {
    const at = new Date(seconds * 1000);
    const today = day.format(at);
    const text = step >= 86_400 ? today : (step < 60 ? precise : clock).format(at);
    const isNew = step < 86_400 && today !== before;
    before = today;
    return isNew ? `${text}\n${today}` : text;
  });
}

/** Returns the width of an axis that shows its labels whole, in pixels. */
const axisWidth = (labels: string[] | null): number =>
  Math.max(48, 18 + 7 * Math.max(0, ...(labels ?? []).map((label) => label.length)));

/** Half a step more at both ends, where the first and the last bar would be cut. */
function aroundBars({ data: [times] }: uPlot, from: number, to: number): [number, number] {
  const half = times.length > 1 ? (times[1]! - times[0]!) / 2 : 1;
  return [from - half, to + half];
}

/** Indices of the points that no line shows, because they have no neighbours. */
function lonelyPoints(chart: uPlot, seriesIndex: number): number[] {
  const values = chart.data[seriesIndex]!;
  const isGap = (index: number) => values[index] == null;
  return [...values.keys()].filter((index) => !isGap(index) && isGap(index - 1) && isGap(index + 1));
}

/** Draws events as dashed vertical lines across the plot. */
function drawMarkers({ ctx, bbox, scales, valToPos }: uPlot, markers: readonly ChartMarker[], color: string): void {
  const { min, max } = scales["x"]!;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { time } of markers) {
    if (time < min! || time > max!) continue;
    const x = Math.round(valToPos(time, "x", true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

export default memo(function Plot({
  title,
  times,
  series,
  format,
  formatTicks,
  kind = "line",
  markers,
  height,
  onHover,
  onPick,
  onZoom,
}: PlotProps) {
  const { ref: box, width } = useElementSize();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const isHighContrast = useMediaQuery("(prefers-contrast: more)");
  const handlers = useRef({ onHover, onPick, onZoom, format, formatTicks });
  handlers.current = { onHover, onPick, onZoom, format, formatTicks };
  const labels = series.map(({ label }) => label).join("\n");
  const marked = useRef(markers);
  marked.current = markers;
  const looks = useRef(series);
  looks.current = series;
  const data = useMemo(() => [times, ...series.map(({ values }) => values)] as uPlot.AlignedData, [times, series]);
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    if (!place.current || width === 0) return;
    const text = cssColor("--mantine-color-dimmed");
    const lines = cssColor("--heddle-neutral-quiet");
    const axis = { stroke: text, grid: { stroke: lines, width: 1 }, ticks: { stroke: lines, width: 1 } };
    const chart = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        cursor: {
          y: false,
          drag: { x: onZoom !== undefined, y: false, setScale: false, dist: 5 },
          points: { size: 6 },
        },
        scales: {
          ...(kind === "bars" && { x: { range: aroundBars } }),
          y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? high * 1.05 : 1] },
        },
        axes: [
          { ...axis, space: 60, values: (_, splits, __, ___, step) => formatTimes(splits, step) },
          {
            ...axis,
            size: (_, labels) => axisWidth(labels),
            values: (_, splits) => {
              const { format: formatTick, formatTicks: formatAll } = handlers.current;
              return formatAll ? formatAll(splits) : splits.map((value) => formatTick(value));
            },
          },
        ],
        series: [
          {},
          ...labels.split("\n").map((label, index) => {
            const look = looks.current[index]!;
            const color = cssColor(seriesColor(look, index));
            // no point at the top of a bar, as it adds no information
            const bars = {
              paths: uPlot.paths.bars!({ size: [0.8, 40] }),
              fill: color,
              points: { show: false },
              width: 0,
            };
            const line = { width: 1.5, points: { size: 5, filter: lonelyPoints } };
            if (look.before !== undefined) {
              return { label, stroke: color, spanGaps: false, ...line, dash: DASH, alpha: 0.7 };
            }
            return { label, stroke: color, spanGaps: false, ...(kind === "bars" ? bars : line) };
          }),
        ],
        hooks: {
          draw: [(drawn) => drawMarkers(drawn, marked.current ?? [], cssColor("--heddle-neutral"))],
          setCursor: [({ cursor }) => handlers.current.onHover(cursor.idx ?? null)],
          setSelect: [
            (drawn) => {
              const { left, width: dragged } = drawn.select;
              if (dragged <= 0) return;
              drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              handlers.current.onZoom?.(drawn.posToVal(left, "x"), drawn.posToVal(left + dragged, "x"));
            },
          ],
        },
      },
      latest.current,
      place.current,
    );
    chart.over.addEventListener("mouseleave", () => handlers.current.onHover(null));
    // a drag also ends with a click event
    let pressedAt = 0;
    chart.over.addEventListener("mousedown", ({ clientX }) => (pressedAt = clientX));
    chart.over.addEventListener("click", ({ clientX }) => {
      const { idx } = chart.cursor;
      if (idx != null && Math.abs(clientX - pressedAt) < 5) handlers.current.onPick?.(idx);
    });
    plot.current = chart;
    return () => {
      chart.destroy();
      plot.current = null;
    };
  }, [width, height, scheme, isHighContrast, labels, kind, onZoom === undefined]);

  useEffect(() => plot.current?.setData(latest.current), [data]);
  useEffect(() => plot.current?.redraw(false), [markers]);

  return (
    <div ref={box} style={{ cursor: onPick ? "pointer" : undefined }}>
      <div ref={place} role="img" aria-label={`${title}: ${labels.replaceAll("\n", ", ")} over time`} />
    </div>
  );
});
