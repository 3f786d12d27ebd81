import { count, counted } from "../../ui/format.ts";
import type { Hour } from "./queries.ts";
import styles from "./hours-chart.module.css";

const BAR = 4;
const GAP = 1;
const HEIGHT = 20;

/** Sparkline with one bar per hour, whose red part counts failures. */
export function HoursChart({ hours }: { hours: Hour[] | undefined }) {
  const max = Math.max(1, ...(hours ?? []).map(({ traces }) => traces));
  const barHeight = (traces: number) => (traces === 0 ? 0 : Math.max(1.5, (traces / max) * HEIGHT));
  const width = 24 * (BAR + GAP) - GAP;
  return (
    <svg
      width={width}
      height={HEIGHT}
      className={styles["chart"]}
      role="img"
      aria-label={hours ? describe(hours) : "Traces per hour"}
    >
      <line x1={0} x2={width} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className={styles["ground"]} />
      {hours?.map(({ traces, failed }, index) => {
        const x = index * (BAR + GAP);
        const [height, failedHeight] = [barHeight(traces), barHeight(failed)];
        return (
          <g key={x}>
            <rect x={x} y={HEIGHT - height} width={BAR} height={height} className={styles["bar"]} />
            <rect x={x} y={HEIGHT - failedHeight} width={BAR} height={failedHeight} className={styles["failed"]} />
          </g>
        );
      })}
    </svg>
  );
}

export function sumHours(hours: Hour[]): Hour {
  const sum = (key: keyof Hour) => hours.reduce((total, hour) => total + hour[key], 0);
  return { traces: sum("traces"), failed: sum("failed") };
}

function describe(hours: Hour[]): string {
  const { traces, failed } = sumHours(hours);
  return `${counted(traces, "trace")} in the last 24 hours, ${count(failed)} failed`;
}
