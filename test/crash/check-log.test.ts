import { expect, test } from "vitest";

import { completedSteps, type LogLine, violations } from "./check-log.ts";

/** `1s@a` is the start of step 1 in execution a, `1e@a` its end; all of one run. */
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

test("a run that went through, and one that was killed in a step and did that step again, are in order", () => {
  expect(violations(log("1s@a 1e@a 2s@b 2e@b"))).toEqual([]);
  expect(violations(log("1s@a 1e@a 2s@b 2s@c 2e@c 3s@d 3e@d"))).toEqual([]);
  // killed between the end of the step and its checkpoint
  expect(violations(log("1s@a 1e@a 1s@b 1e@b"))).toEqual([]);
});

test("a step that runs again after a later one had started is found", () => {
  expect(violations(log("1s@a 1e@a 2s@b 1s@c 1e@c"))[0]).toMatch(/step 1 ran again/);
});

test("an execution that goes on after the next one has started is found", () => {
  expect(violations(log("1s@a 1s@b 1e@a 1e@b"))[0]).toMatch(/a was still at step 1 when b had started/);
  expect(violations(log("1s@a 1s@b 1e@b 1e@a"))[0]).toMatch(/a was still at step 1/);
});

test("the steps that a run completed are those with an end", () => {
  expect(completedSteps(log("1s@a 1e@a 2s@b 2s@c 2e@c 3s@d"), "r")).toEqual([1, 2]);
});
