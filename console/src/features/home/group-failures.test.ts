import { expect, test } from "vitest";

import { groupFailures } from "./group-failures.ts";

const run = (id: number, error: string, name = "agent", session_id = "a") => ({ id, name, session_id, error });

test("failures that differ only in numbers, ids and stacks are one line, with the newest of them", () => {
  const runs = [
    run(6, "Recursion limit of 25 reached.\n    at loop.ts:1"),
    run(5, "TimeoutError: run 01a2296f-f39c-7000-a84b-060022dcb4a9 did not answer in 30 s"),
    run(4, "Recursion limit of 50 reached.\n    at loop.ts:2"),
    run(3, "TimeoutError: run 01a2296f-f35f-7000-bde7-0acb5d157ac2 did not answer in 31 s"),
    run(2, "Recursion limit of 25 reached."),
  ];
  expect(groupFailures(runs).map(({ newest, count }) => [newest.id, count])).toEqual([
    [6, 3],
    [5, 2],
  ]);
});

test("the same error of another agent or project is another line", () => {
  const runs = [run(3, "boom"), run(2, "boom", "other"), run(1, "boom", "agent", "b")];
  expect(groupFailures(runs).map(({ newest, count }) => [newest.id, count])).toEqual([
    [3, 1],
    [2, 1],
    [1, 1],
  ]);
});
