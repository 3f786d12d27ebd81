import { expect, test } from "vitest";

import { BackOff } from "./back-off.ts";

const never = new AbortController().signal;

test("pauses double up to the longest one, each shortened by up to half, and start again after a reset", async () => {
  const backOff = new BackOff({ firstMs: 20, longestMs: 80 });
  const pause = async () => {
    const began = performance.now();
    await backOff.wait(never);
    return performance.now() - began;
  };
  const pauses = [await pause(), await pause(), await pause(), await pause()];
  for (const [n, least] of [10, 20, 40, 40].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least - 2);
  backOff.reset();
  expect(await pause()).toBeLessThan(40);
});

test("a pause ends when its signal is aborted", async () => {
  const backOff = new BackOff({ firstMs: 60_000, longestMs: 60_000 });
  const stop = new AbortController();
  const pause = backOff.wait(stop.signal);
  stop.abort();
  await expect(pause).resolves.toBeUndefined();
});
