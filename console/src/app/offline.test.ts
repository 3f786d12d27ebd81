import { expect, test } from "vitest";

import { selectResults } from "./offline.ts";

const query = (queryHash: string, at: number, data: unknown, status = "success") =>
  ({ queryHash, state: { status, data, dataUpdatedAt: at } }) as unknown as Parameters<typeof selectResults>[0][number];

test("the newest results that fit are kept, without failed and large ones", () => {
  const half = "x".repeat(250_000);
  const many = Array.from({ length: 40 }, (_, index) => query(`q${index}`, index, half));
  const kept = selectResults([
    ...many,
    query("failed", 100, "x", "error"),
    query("large", 101, "x".repeat(300_000)),
    query("small", 0, { a: 1 }),
    query("empty", 102, undefined),
  ]);
  expect(kept.has("failed")).toBe(false);
  expect(kept.has("large")).toBe(false);
  expect(kept.has("q39")).toBe(true);
  expect(kept.has("q0")).toBe(false);
  expect([...kept].filter((hash) => hash.startsWith("q"))).toHaveLength(16);
  // there is room for it
  expect(kept.has("small")).toBe(true);
});
