import { expect, test } from "vitest";

import { inOrder, moveColumn } from "./column-order.ts";

const columns = ["name", "input", "output", "cost"].map((id) => ({ id }));
const ids = (order: string[]) => inOrder(columns, order).map(({ id }) => id);

test("orders columns as saved; new ones keep their place, and unknown ones are ignored", () => {
  expect(ids([])).toEqual(["name", "input", "output", "cost"]);
  expect(ids(["cost", "gone", "input"])).toEqual(["name", "cost", "input", "output"]);
});

test("moves a column by one place and not beyond the ends", () => {
  expect(moveColumn(["a", "b", "c"], "a", 1)).toEqual(["b", "a", "c"]);
  expect(moveColumn(["a", "b", "c"], "a", -1)).toEqual(["a", "b", "c"]);
  expect(moveColumn(["a", "b", "c"], "c", -1)).toEqual(["a", "c", "b"]);
});
