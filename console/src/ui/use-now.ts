import { useSyncExternalStore } from "react";

/** Shared clock for relative times; it ticks every five seconds while it has subscribers. */
const TICK_MS = 5_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** Reads the clock, which stands still without subscribers. The first rendering gets the time that its subscription has. */
function read(): number {
  if (timer === undefined && Date.now() - now > TICK_MS) now = Date.now();
  return now;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of listeners) tell();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export const useNow = (): number => useSyncExternalStore(subscribe, read);
