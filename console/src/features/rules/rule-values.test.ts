import { expect, test } from "vitest";

import type { Rule } from "./queries.ts";
import { bodyOf, valuesOf } from "./rule-values.ts";

test("saving the form of a rule keeps the feedback that it gives, whether its score is a number, true or false", () => {
  for (const [score, saved] of [
    [0.5, 0.5],
    [true, 1],
    [false, 0],
    [null, null],
  ] as const) {
    const feedback = { key: "flag", score, value: "seen", comment: "by rule" };
    const rule = { display_name: "rule", add_feedback: [feedback], add_tags: [] } as unknown as Rule;
    expect(bodyOf(valuesOf(rule, {}), rule, 0).add_feedback).toEqual([{ ...feedback, score: saved }]);
  }
});
