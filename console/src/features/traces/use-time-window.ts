import { type RefObject, useEffect, useRef, useState } from "react";

import type { Interval } from "./run-times.ts";
import { panWindow, windowAround, zoomWindow } from "./time-window.ts";

/** Share of the window by which a key pans, and factor by which a key or a turn of the wheel zooms. */
const PAN = 0.2;
const ZOOM = 0.5;
/** Pixels of a wheel that double the scale. */
const WHEEL_PX = 240;

export interface TimeWindow {
  whole: Interval;
  /** The part of the trace that bars are drawn in. */
  shown: Interval;
  isZoomed: boolean;
  zoomIn: () => void;
  zoomOut: () => void;
  pan: (direction: 1 | -1) => void;
  reset: () => void;
  show: (interval: Interval) => void;
  /** Shows exactly this part. */
  set: (window: Interval | null) => void;
}

/**
 * The visible part of a trace's time. Above the rows' bars, which have the attribute `data-times`, Ctrl and the wheel
 * zoom about the pointer, Shift and the wheel pan.
 */
export function useTimeWindow(whole: Interval, rows: RefObject<HTMLElement | null>): TimeWindow {
  const [window, setWindow] = useState<Interval | null>(null);
  const shown = window ?? whole;
  const latest = useRef({ whole, shown });
  latest.current = { whole, shown };
  const zoom = (factor: number, about = (shown[0] + shown[1]) / 2) =>
    setWindow(zoomWindow(shown, whole, factor, about));

  useEffect(() => {
    const element = rows.current;
    if (!element) return;
    // React's own listener is passive, and could not keep the browser from zooming the page
    const onWheel = (event: WheelEvent) => {
      const bars = (event.target as Element).closest("[data-times]");
      if (!bars) return;
      const { whole: all, shown: now } = latest.current;
      const { left, width } = bars.getBoundingClientRect();
      const about = now[0] + ((event.clientX - left) / width) * (now[1] - now[0]);
      const across = event.deltaX !== 0 ? event.deltaX : event.shiftKey ? event.deltaY : 0;
      if (event.ctrlKey || event.metaKey) setWindow(zoomWindow(now, all, 2 ** (event.deltaY / WHEEL_PX), about));
      else if (across !== 0 && now[1] - now[0] < all[1] - all[0]) setWindow(panWindow(now, all, across / width));
      else return;
      event.preventDefault();
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  return {
    whole,
    shown,
    isZoomed: window !== null,
    zoomIn: () => zoom(ZOOM),
    zoomOut: () => zoom(1 / ZOOM),
    pan: (direction) => window !== null && setWindow(panWindow(shown, whole, direction * PAN)),
    reset: () => setWindow(null),
    show: (interval) => setWindow(windowAround(interval, whole)),
    set: setWindow,
  };
}
