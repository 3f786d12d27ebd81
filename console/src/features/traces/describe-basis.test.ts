import { expect, test } from "vitest";

import { describeBasis } from "./describe-basis.ts";

test("describes how tokens were counted, and what has no price", () => {
  expect(describeBasis(null)).toEqual([]);
  expect(describeBasis({ cost: "price" })).toEqual([]);
  expect(describeBasis({ cost: "client" })).toEqual(["cost reported by the client"]);
  expect(
    describeBasis({ cached_tokens: "beside", cached_tokens_by: "numbers", notes: ["no price for model x of acme"] }),
  ).toEqual(["no price for model x of acme", "cached tokens counted beside the input, found from the numbers"]);
  expect(describeBasis({ reasoning_tokens: "inside", reasoning_tokens_by: "format", cost: "price" })).toEqual([
    "reasoning counted within the output, by the provider's format",
  ]);
});
