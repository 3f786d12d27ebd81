import fc from "fast-check";
import { expect, test } from "vitest";

import { parseDecimal, formatDecimal } from "../run-rows/decimal.ts";
import { priceUsage } from "./price-usage.ts";

const price = {
  id: "p",
  tenant_id: null,
  name: "m",
  start_time: null,
  match_pattern: "m",
  match_path: [],
  provider: null,
  prompt_cost: "0.0000025",
  completion_cost: "0.00001",
  prompt_cost_details: { cache_read: "0.00000125" },
  completion_cost_details: null,
};

test("prices tokens, with a separate price for details that have one", () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 3, prompt_token_details: { cache_read: 400, audio: 5 } };
  expect(priceUsage(usage, price)).toMatchObject({
    ...usage,
    prompt_cost: "0.002",
    completion_cost: "0.00003",
    total_cost: "0.00203",
    prompt_cost_details: { cache_read: "0.0005" },
    completion_cost_details: undefined,
  });
});

test("keeps a cost sent by the client, and adds none without priced tokens", () => {
  expect(priceUsage({ prompt_tokens: 5, total_cost: "1" }, price)).toEqual({ prompt_tokens: 5, total_cost: "1" });
  expect(priceUsage({ total_tokens: 5 }, price)).toEqual({ total_tokens: 5 });
});

test("cached tokens that exceed the input are beside it", () => {
  const usage = { prompt_tokens: 10, prompt_token_details: { cache_read: 1000 } };
  expect(priceUsage(usage, price)).toMatchObject({ prompt_tokens: 1010, prompt_cost: "0.001275" });
});

test("calculates with exact decimals, also with exponents", () => {
  const cases: [unknown, string | undefined][] = [
    [1e-6, "0.000001"],
    [1e-7, "0.0000001"],
    ["1.50", "1.5"],
    ["-0.1", "-0.1"],
    [".5", "0.5"],
    ["1e3", "1000"],
    ["0.0000000000000000019", "0.000000000000000001"],
    ["1e30", undefined],
    ["x", undefined],
    ["", undefined],
    [Number.NaN, undefined],
    [null, undefined],
  ];
  for (const [value, printed] of cases) {
    const parsed = parseDecimal(value);
    expect(parsed === undefined ? undefined : formatDecimal(parsed)).toBe(printed);
  }
  fc.assert(fc.property(fc.bigInt(-(10n ** 37n), 10n ** 37n), (value) => parseDecimal(formatDecimal(value)) === value));
});
