import { setTimeout as sleep } from "node:timers/promises";

/** Waits until the condition holds. Throws with `what` when it does not within `seconds`. */
export async function until(condition: () => unknown, what = "the condition holds", seconds = 30): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`did not happen within ${seconds} s: ${what}`);
    await sleep(20);
  }
}
