import { expect, test } from "vitest";

import { compareInWords, inTreeOrder, trendOf } from "./tree.ts";

const cluster = (id: string, parent_id: string | null, share: number) => ({
  id,
  parent_id,
  num_runs: 1,
  stats: { share },
});

test("puts children below their parents, the largest first", () => {
  const clusters = [
    cluster("small", null, 0.2),
    cluster("child", "large", 0.3),
    cluster("large", null, 0.8),
    cluster("larger child", "large", 0.5),
  ];
  expect(inTreeOrder(clusters).map(({ id }) => id)).toEqual(["large", "larger child", "child", "small"]);
});

test("says how shares changed", () => {
  const previous = { name: "Billing", share: 0.12 };
  expect(trendOf({ share: 0.19, previous, compared: true })).toBe("▲ was 12 %");
  expect(trendOf({ share: 0.12, previous, compared: true })).toBe("as before");
  expect(trendOf({ share: 0.19, previous: null, compared: true })).toBe("new");
  expect(trendOf({ share: 0.19 })).toBeNull();
  expect(compareInWords("Billing", { share: 0.19, previous, compared: true })).toBe("It grew from 12 % to 19 %.");
  expect(compareInWords("Invoices", { share: 0.05, previous, compared: true })).toBe(
    'It shrank from 12 % to 5 %. It was called "Billing".',
  );
  expect(compareInWords("Invoices", { share: 0.05, previous: null, compared: true })).toBe(
    '"Invoices" did not occur in the previous job.',
  );
});
