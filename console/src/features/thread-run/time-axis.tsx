import { Paper } from "@mantine/core";
import { type CSSProperties, Fragment } from "react";

import { duration } from "../../ui/format.ts";
import { type Axis, axisPlace, axisTicks, type Lane, LANES, type RunEvent } from "./run-events.ts";
import classes from "./time-axis.module.css";

const COLORS: Record<Lane, string> = {
  Run: "series-1",
  Trace: "series-3",
  Checkpoints: "series-4",
  Webhooks: "series-5",
  Feedback: "series-2",
  Logs: "neutral",
};
/** Limit on the rows of a lane for overlapping events; further events share the last row. */
const MAX_ROWS = 10;
const ROW_PX = 22;

interface TimeAxisProps {
  events: readonly RunEvent[];
  axis: Axis;
  selected: string | undefined;
  onSelect: (key: string) => void;
}

/** Lanes of a run's events on one axis. For keyboards and screen readers, the table below contains the same events. */
export function TimeAxis({ events, axis, selected, onSelect }: TimeAxisProps) {
  const later = axis.later === null ? null : axisPlace(axis, axis.to);
  const ticks = axisTicks(axis);
  return (
    <Paper withBorder p="sm" role="img" aria-label={`Time axis of ${events.length} events; the table lists them`}>
      <div className={classes["axis"]}>
        <span />
        <div className={classes["ticks"]}>
          {ticks.map((ms) => (
            <span
              key={ms}
              className={classes["tick"]}
              data-last={axisPlace(axis, axis.from + ms) > 0.94 || undefined}
              style={{ left: `${axisPlace(axis, axis.from + ms) * 100}%` }}
            >
              {ms === 0 ? "0" : `+${duration(ms)}`}
            </span>
          ))}
          {later !== null && (
            <span className={classes["tick"]} style={{ left: `${((later + 1) / 2) * 100}%` }}>
              later
            </span>
          )}
        </div>
        {LANES.map((lane) => {
          const placed = inRows(
            events.filter((event) => event.lane === lane),
            axis,
          );
          if (placed.length === 0) return null;
          const rows = Math.max(...placed.map(({ row }) => row)) + 1;
          return (
            <Fragment key={lane}>
              <span className={classes["name"]}>{lane}</span>
              <div className={classes["lane"]} style={{ height: rows * ROW_PX }}>
                {later !== null && <div className={classes["later"]} style={{ left: `${later * 100}%` }} />}
                {placed.map(({ event, row, left, width }) => (
                  <span
                    key={event.key}
                    aria-hidden
                    className={classes["mark"]}
                    data-event={event.key}
                    data-moment={event.end === undefined || undefined}
                    data-open={event.end === null || event.key === "queued" || undefined}
                    aria-current={event.key === selected || undefined}
                    title={describe(event, axis)}
                    onClick={() => onSelect(event.key)}
                    style={
                      {
                        "--mark": `var(--heddle-${event.isFailure ? "danger" : COLORS[lane]})`,
                        left: `${left * 100}%`,
                        top: row * ROW_PX,
                        ...(event.end !== undefined && { width: `${width * 100}%` }),
                      } as CSSProperties
                    }
                  >
                    {width > 0.06 && event.end != null && event.lane === "Trace" ? event.label : ""}
                  </span>
                ))}
              </div>
            </Fragment>
          );
        })}
      </div>
    </Paper>
  );
}

const describe = ({ label, at, end }: RunEvent, { from }: Axis): string =>
  `${label}, +${duration(at - from)}${end == null ? "" : `, ${duration(end - at)}`}`;

/** Places overlapping events in separate rows. */
function inRows(events: readonly RunEvent[], axis: Axis) {
  const ends: number[] = [];
  return events.map((event) => {
    const left = axisPlace(axis, event.at);
    const right = event.end === undefined ? left : axisPlace(axis, event.end ?? axis.to);
    // instants may overlap; periods may not
    const free = event.end === undefined ? 0 : ends.findIndex((end) => end <= left + 0.0005);
    const row = Math.min(free === -1 ? ends.length : free, MAX_ROWS - 1);
    if (event.end !== undefined) ends[row] = Math.max(right, ends[row] ?? 0);
    return { event, row, left, width: Math.max(0, right - left) };
  });
}
