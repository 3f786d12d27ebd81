import { expect, test } from "vitest";

import { readCodeResult } from "./read-code-result.ts";

const none = { score: null, value: null, comment: null };

// as `evaluate()` of the SDKs reads the same results
test.each([
  [1, [{ ...none, key: "own", score: 1 }]],
  [false, [{ ...none, key: "own", score: false }]],
  ["good", [{ ...none, key: "own", value: "good" }]],
  [{ key: "k", value: 5 }, [{ ...none, key: "k", value: 5 }]],
  [{ key: "k", score: 1, value: "yes" }, [{ ...none, key: "k", score: 1, value: "yes" }]],
  [{ key: "k", score: null, comment: "n/a" }, [{ ...none, key: "k", comment: "n/a" }]],
  [
    [
      { key: "a", score: 1 },
      { key: "b", score: null },
    ],
    [{ ...none, key: "a", score: 1 }],
  ],
  [{ results: [{ score: 0.5 }] }, [{ ...none, key: "own", score: 0.5 }]],
  [{ a: 1, b: null, comment: "why" }, [{ ...none, key: "a", score: 1, comment: "why" }]],
])("reads %j", (result, feedback) => {
  expect(readCodeResult(result, "own")).toEqual({ feedback });
});

test.each([
  [null, /must return/],
  [[], /no score/],
  [{ key: "k", score: null }, /no score/],
  [{ key: "k" }, /no score/],
  [{ key: "k", score: {} }, /must return/],
  [{ key: "k", score: 1, value: {} }, /value that is object/],
  [[1, 2], /twice/],
])("rejects %j", (result, problem) => {
  expect(readCodeResult(result, "own")).toEqual({ problem: expect.stringMatching(problem) });
});
