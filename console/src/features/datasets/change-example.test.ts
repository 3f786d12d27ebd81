import { expect, test } from "vitest";

import { changeExample } from "./change-example.ts";

test("an example without reference outputs still has none after another change", () => {
  const before = { outputs: null, splits: ["test"] };
  expect(changeExample(before, { outputs: undefined, splits: ["test"] })).toEqual({ split: ["test"] });
});

test("outputs and splits that were removed are removed", () => {
  const before = { outputs: { a: 1 }, splits: ["test"] };
  expect(changeExample(before, { outputs: undefined, splits: [] })).toEqual({ outputs: {}, split: ["base"] });
  expect(changeExample({ ...before, splits: [] }, { outputs: { a: 2 }, splits: [] })).toEqual({ outputs: { a: 2 } });
});
