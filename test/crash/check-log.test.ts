import { expect, test } from "vitest";

import { completedSteps, type LogLine, violations } from "./check-log.ts";

/** Parses a log of one run: `1s@a` is the start of step 1 in execution a, `1e@a` its end. */
const log = (text: string): LogLine[] =>
  text.split(" ").map((word) => {
    const [, step, phase, execution] = /^(\d)([se])@(\w+)$/.exec(word)!;
    return {
      run: "r",
      step: Number(step),
      phase: phase === "s" ? "start" : "end",
      execution: execution!,
      pid: 1,
      at: 0,
    };
  });

test("accepts a complete run, and one that was killed in a step and repeated it", () => {
  expect(violations(log("1s@a 1e@a 2s@b 2e@b"))).toEqual([]);
  expect(violations(log("1s@a 1e@a 2s@b 2s@c 2e@c 3s@d 3e@d"))).toEqual([]);
  // killed between the end of the step and its checkpoint
  expect(violations(log("1s@a 1e@a 1s@b 1e@b"))).toEqual([]);
});

test("finds a step that runs again after a later one has started", () => {
  expect(violations(log("1s@a 1e@a 2s@b 1s@c 1e@c"))[0]).toMatch(/step 1 ran again/);
});

test("finds an execution that continues after the next one has started", () => {
  expect(violations(log("1s@a 1s@b 1e@a 1e@b"))[0]).toMatch(/a was still at step 1 when b had started/);
  expect(violations(log("1s@a 1s@b 1e@b 1e@a"))[0]).toMatch(/a was still at step 1/);
});

test("lists the steps of a run that have an end", () => {
  expect(completedSteps(log("1s@a 1e@a 2s@b 2s@c 2e@c 3s@d"), "r")).toEqual([1, 2]);
});
