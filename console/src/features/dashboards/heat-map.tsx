import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef } from "react";

import { duration, fullTime } from "../../ui/format.ts";
import type { DataPoint } from "./queries.ts";

const LEFT = 56;
const BOTTOM = 18;

interface HeatMapProps {
  title: string;
  data: readonly DataPoint[];
  height: number;
}

/** Latency over time: a column per step, a row per bin of latency; the darker, the more runs. */
export function HeatMap({ title, data, height }: HeatMapProps) {
  const { ref: box, width } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  // drawn anew when the scheme changes
  useComputedColorScheme("light", { getInitialValueInEffect: false });
  const bins = [...new Set(data.flatMap(({ value }) => Object.keys((value ?? {}) as object)))]
    .map(Number)
    .toSorted((a, b) => a - b);
  const counts = data.map(({ value }) => (value ?? {}) as Record<string, number>);
  const most = Math.max(1, ...counts.flatMap((map) => Object.values(map)));
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || width === 0 || bins.length === 0) return;
    const scale = devicePixelRatio;
    canvas.current!.width = width * scale;
    canvas.current!.height = height * scale;
    context.scale(scale, scale);
    context.clearRect(0, 0, width, height);
    const [cell, row] = [(width - LEFT) / counts.length, (height - BOTTOM) / bins.length];
    const style = getComputedStyle(document.documentElement);
    const color = style.getPropertyValue("--heddle-series-1").trim();
    context.fillStyle = color;
    counts.forEach((map, x) => {
      bins.forEach((bin, y) => {
        const n = map[String(bin)] ?? 0;
        if (n === 0) return;
        context.globalAlpha = 0.15 + 0.85 * (Math.log1p(n) / Math.log1p(most));
        context.fillRect(LEFT + x * cell, height - BOTTOM - (y + 1) * row, Math.max(1, cell - 1), Math.max(1, row - 1));
      });
    });
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue("--mantine-color-dimmed").trim();
    context.font = "11px sans-serif";
    context.textAlign = "right";
    const every = Math.ceil(bins.length / 6);
    bins.forEach((bin, y) => {
      if (y % every === 0) context.fillText(duration(bin * 1000), LEFT - 6, height - BOTTOM - y * row - 2);
    });
    context.textAlign = "left";
    const first = data[0]?.timestamp;
    if (first !== undefined) context.fillText(fullTime(first), LEFT, height - 4);
  });
  const total = counts.reduce((sum, map) => sum + Object.values(map).reduce((a, b) => a + b, 0), 0);
  const range =
    bins.length > 0 ? `, from ${duration(bins[0]! * 1000)} to ${duration(bins.at(-1)! * 1000)} or more` : "";
  return (
    <div ref={box}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${title}: ${total} runs${range}`}
        style={{ width: "100%", height, display: "block" }}
      />
    </div>
  );
}
