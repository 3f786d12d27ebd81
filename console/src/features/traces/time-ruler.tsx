import { useElementSize } from "@mantine/hooks";
import { type PointerEvent, useRef, useState } from "react";

import { durationTicks } from "../../ui/format.ts";
import type { Interval } from "./run-times.ts";
import { panWindow, roundTimes } from "./time-window.ts";
import classes from "./time-ruler.module.css";
import type { TimeWindow } from "./use-time-window.ts";

/** Room of a tick with its label. */
const TICK_PX = 72;
/** Shorter drags are clicks. */
const DRAG_PX = 4;

/**
 * Time axis above the bars: a drag over it zooms to that part, a double click shows all. While zoomed, a strip shows
 * where the window is, and moves it.
 */
export function TimeRuler({ times }: { times: TimeWindow }) {
  const { whole, shown, isZoomed, set, reset } = times;
  const { ref, width } = useElementSize();
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const ticks = roundTimes(shown, whole[0], Math.max(2, Math.floor(width / TICK_PX)));
  const labels = durationTicks(ticks);
  const shareOf = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width: all } = currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / all));
  };
  const timeAt = (share: number) => shown[0] + share * (shown[1] - shown[0]);
  return (
    <div className={classes.times} aria-hidden>
      <div
        ref={ref}
        className={classes.ruler}
        title="Drag to zoom, double-click to show all"
        onDoubleClick={reset}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag([shareOf(event), shareOf(event)]);
        }}
        onPointerMove={(event) => drag && setDrag([drag[0], shareOf(event)])}
        onPointerUp={() => {
          if (drag && Math.abs(drag[1] - drag[0]) * width >= DRAG_PX) {
            set([timeAt(Math.min(...drag)), timeAt(Math.max(...drag))]);
          }
          setDrag(null);
        }}
        onPointerCancel={() => setDrag(null)}
      >
        {ticks.map((tick, index) => {
          const share = (tick + whole[0] - shown[0]) / (shown[1] - shown[0] || 1);
          return (
            <span key={tick} className={classes.tick} style={{ left: `${share * 100}%` }}>
              {/* a label at the end has no room after its line */}
              <span className={classes.label} data-last={share > 0.9 || undefined}>
                {labels[index]}
              </span>
            </span>
          );
        })}
        {drag && (
          <span
            className={classes.drag}
            style={{ left: `${Math.min(...drag) * 100}%`, width: `${Math.abs(drag[1] - drag[0]) * 100}%` }}
          />
        )}
      </div>
      {isZoomed && <Overview whole={whole} shown={shown} onMove={set} />}
    </div>
  );
}

interface OverviewProps {
  whole: Interval;
  shown: Interval;
  onMove: (window: Interval) => void;
}

/** The whole trace as a strip with the window in it. */
function Overview({ whole, shown, onMove }: OverviewProps) {
  const grip = useRef<number | null>(null);
  const total = whole[1] - whole[0] || 1;
  const length = shown[1] - shown[0];
  const timeAt = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return whole[0] + ((clientX - left) / width) * total;
  };
  const move = (event: PointerEvent) => {
    if (grip.current === null) return;
    onMove(panWindow(shown, whole, (timeAt(event) - grip.current - shown[0]) / length));
  };
  return (
    <div
      className={classes.overview}
      data-testid="overview"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = timeAt(event);
        // the window is held where it was gripped; elsewhere its middle comes to the pointer
        grip.current = at >= shown[0] && at <= shown[1] ? at - shown[0] : length / 2;
        move(event);
      }}
      onPointerMove={move}
      onPointerUp={() => (grip.current = null)}
      onPointerCancel={() => (grip.current = null)}
    >
      <span
        className={classes.window}
        style={{ left: `${((shown[0] - whole[0]) / total) * 100}%`, width: `${(length / total) * 100}%` }}
      />
    </div>
  );
}
