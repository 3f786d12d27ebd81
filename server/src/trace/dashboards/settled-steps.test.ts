import { expect, test } from "vitest";

import { readFilter } from "../filter/read-filter.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { Facts } from "../runs/fact-source.ts";
import type { SeriesRow } from "./series-point.ts";
import { readSteps } from "./settled-steps.ts";
import { StepMemory } from "../run-facts/step-memory.ts";

const HOUR = 3600;
const scope = RunScope.ofTenant("00000000-0000-7000-8000-000000000001").withIncompleteHours(new Map());
const builds = (changed: Record<number, number> = {}) =>
  Array.from({ length: 9 }, (_, hour) => ({ hour, build: changed[hour] ?? 100 + hour }));

/** Reads half past midnight to nine in steps of two hours. @returns the rows, and the spans that were read */
async function read(
  steps: StepMemory,
  facts: Facts,
  { filter = "eq(is_root, true)", offsetSeconds = 0, groups = 1 } = {},
) {
  const request = {
    since: new Date(HOUR * 500),
    until: new Date(9 * HOUR * 1000),
    stepSeconds: 2 * HOUR,
    offsetSeconds,
  };
  const selection = { filters: [readFilter(filter)], is_root: true };
  let asked: Facts | undefined;
  const rows = await readSteps(
    steps,
    { scope, selection, request, facts, sums: false, columns: ["run_count"] },
    async (part) => {
      asked = part;
      const spans = part?.spans ?? [{ from: 0, to: 9 * HOUR }];
      return [0, 2, 4, 6, 8]
        .map((hour) => hour * HOUR)
        .filter((start) => spans.some(({ from, to }) => from < start + 2 * HOUR && to > start))
        .flatMap((bucket) =>
          Array.from({ length: groups }, (): SeriesRow => ({ bucket, group_name: null, m0: bucket / HOUR })),
        );
    },
  );
  const hours = asked?.spans?.map(({ from, to }) => [from / HOUR, to / HOUR]);
  return { values: rows.map(({ m0 }) => m0), hours, builds: asked?.builds.map(({ hour }) => hour) };
}

test("only steps at the ends of the period, and with open or new copies, are read again", async () => {
  const steps = new StepMemory();
  const values = [0, 2, 4, 6, 8];
  const all = { builds: builds(), open: [] };
  expect(await read(steps, all)).toEqual({ values, hours: undefined, builds: [0, 1, 2, 3, 4, 5, 6, 7, 8] });
  const ends = [
    [0.5, 2],
    [8, 9],
  ];
  expect(await read(steps, all)).toEqual({ values, hours: ends, builds: [0, 1, 8] });
  const changed = { builds: builds({ 5: 200 }), open: [] };
  expect((await read(steps, changed)).hours).toEqual([[0.5, 2], [4, 6], ends[1]]);
  expect((await read(steps, changed)).hours).toEqual(ends);
  const open = { builds: builds().filter(({ hour }) => hour !== 3), open: [{ from: 3 * HOUR, to: 4 * HOUR }] };
  for (let i = 0; i < 2; i++) expect(await read(steps, open)).toMatchObject({ values, hours: [[0.5, 4], ends[1]] });
  // another filter is another statement
  expect((await read(steps, all, { filter: 'eq(name, "a")' })).hours).toBeUndefined();
});

test("what copies alone do not determine is read each time", async () => {
  const all = { builds: builds(), open: [] };
  for (const options of [
    { filter: 'eq(status, "pending")' },
    { filter: 'and(eq(is_root, true), or(eq(feedback_key, "a"), eq(name, "b")))' },
    { offsetSeconds: 1800 },
    // more rows than a statement returns
    { groups: 2001 },
  ]) {
    const steps = new StepMemory();
    for (let i = 0; i < 2; i++) expect((await read(steps, all, options)).builds).toHaveLength(9);
  }
});

test("memory is bounded: the oldest texts give way", () => {
  const memory = new StepMemory();
  const text = "x".repeat(1024 * 1024);
  for (let i = 0; i < 20; i++) memory.set(String(i), text);
  expect(memory.get("4")).toBeUndefined();
  expect(memory.get("5")).toBe(text);
});
