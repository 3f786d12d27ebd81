import { expect, test } from "vitest";

import { GroupCommit } from "./group-commit.ts";

const double = (inputs: number[]) => Promise.resolve(inputs.map((n) => 2 * n));

test("batches the calls of one turn", async () => {
  const batches: number[][] = [];
  const commits = new GroupCommit<number, number>((inputs) => (batches.push(inputs), double(inputs)));
  expect(await Promise.all([commits.call(1), commits.call(2)])).toEqual([2, 4]);
  expect(batches).toEqual([[1, 2]]);
});

test("fails the waiting calls when `ready` rejects, and executes later ones", async () => {
  let fails = true;
  const ready = () => (fails ? Promise.reject(new Error("not ready")) : Promise.resolve());
  const commits = new GroupCommit<number, number>(double, { ready });
  const results = await Promise.allSettled([commits.call(1), commits.call(2)]);
  expect(results.map((result) => result.status)).toEqual(["rejected", "rejected"]);
  await commits.idle();
  fails = false;
  expect(await commits.call(3)).toBe(6);
});

test("fails the waiting calls when `ready` throws, and executes later ones", async () => {
  let fails = true;
  const ready = () => {
    if (fails) throw new Error("not ready");
    return Promise.resolve();
  };
  const commits = new GroupCommit<number, number>(double, { ready });
  await expect(commits.call(1)).rejects.toThrow("not ready");
  fails = false;
  expect(await commits.call(3)).toBe(6);
});

test("fails one bad input alone", async () => {
  const run = (inputs: number[]) => (inputs.includes(0) ? Promise.reject(new Error("zero")) : double(inputs));
  const commits = new GroupCommit<number, number>(run, { isUnavailable: () => false });
  const results = await Promise.allSettled([commits.call(0), commits.call(2)]);
  expect(results).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: 4 }]);
});
