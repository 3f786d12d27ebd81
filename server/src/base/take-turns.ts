import { setImmediate as nextTurn } from "node:timers/promises";

/** Longer than a turn of the event loop should take. */
const TURN_MS = 20;

/**
 * Returns a function that a long loop calls in each step: now and then it returns a promise to await, so that others get
 * the event loop.
 */
export function takeTurns(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return nextTurn().then(() => void (since = performance.now()));
  };
}
