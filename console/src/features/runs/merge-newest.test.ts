import { expect, test } from "vitest";

import { mergeNewest, type RunPage } from "./merge-newest.ts";

const run = (n: number, status = "success") =>
  ({
    id: `r${n}`,
    start_time: `2026-01-01T00:00:${String(n).padStart(2, "0")}.000000`,
    status,
  }) as RunPage["runs"][number];
const page = (runs: RunPage["runs"], next: string | null = null): RunPage => ({
  runs,
  cursors: { next, prev: null },
  search_cursors: null,
  parsed_query: null,
});
const known = { pages: [page([run(5), run(4, "pending")], "c"), page([run(3)])], pageParams: [null, "c"] };
const ids = (merged: ReturnType<typeof mergeNewest>) =>
  merged?.pages.map(({ runs }) => runs.map(({ id, status }) => `${id} ${status}`));

test("adds new runs at the top and updates changed ones in place", () => {
  const merged = mergeNewest(known, page([run(7), run(6), run(5), run(4)], "n"));
  expect(ids(merged)).toEqual([["r7 success", "r6 success", "r5 success", "r4 success"], ["r3 success"]]);
});

test("keeps unchanged objects identical, so that nothing renders again", () => {
  expect(mergeNewest(known, page([run(5), run(4, "pending")]))).toBe(known);
});

test("returns null when the new page leaves a gap", () => {
  expect(mergeNewest(known, page([run(9), run(8)], "n"))).toBeNull();
  expect(mergeNewest({ pages: [page([])], pageParams: [null] }, page([run(9)], "n"))).not.toBeNull();
});
