import { expect, test } from "vitest";

import { measureAgreement } from "./measure-agreement.ts";

/** Judgements of a table with a row per item and a column per judge; null: not judged. */
const judged = (key: string, table: (string | null)[][]) =>
  table.flatMap((row, item) =>
    row.flatMap((category, judge) =>
      category === null ? [] : [{ key, run_id: `${item}`, judge: `${judge}`, category }],
    ),
  );

const repeat = (times: number, row: string[]) => Array.from({ length: times }, () => row);

test("Cohen's kappa of two reviewers is that of the textbook example", () => {
  // 20 × both yes, 5 × yes/no, 10 × no/yes, 15 × both no: po = 0.7, pe = 0.5, kappa = 0.4
  const table = [
    ...repeat(20, ["yes", "yes"]),
    ...repeat(5, ["yes", "no"]),
    ...repeat(10, ["no", "yes"]),
    ...repeat(15, ["no", "no"]),
  ];
  const [agreement] = measureAgreement(judged("good", table));
  expect(agreement).toMatchObject({ feedback_key: "good", items: 50, reviewers: 2, method: "cohen" });
  expect(agreement!.percent_agreement).toBeCloseTo(0.7);
  expect(agreement!.kappa).toBeCloseTo(0.4);
});

test("Fleiss' kappa of the 1971 example of fourteen judges is 0.210", () => {
  const counts = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
  ];
  const table = counts.map((row) => row.flatMap((count, category) => Array<string>(count).fill(`${category}`)));
  const [agreement] = measureAgreement(judged("k", table));
  expect(agreement).toMatchObject({ items: 10, reviewers: 14, method: "fleiss" });
  expect(agreement!.kappa).toBeCloseTo(0.21, 3);
  expect(agreement!.percent_agreement).toBeCloseTo(0.378, 3);
});

test("full agreement on several answers is 1, on a single answer it has no kappa", () => {
  expect(
    measureAgreement([
      ...judged("a", [
        ["x", "x"],
        ["y", "y"],
      ]),
      ...judged("b", [
        ["x", "x"],
        ["x", "x"],
      ]),
    ]),
  ).toMatchObject([
    { feedback_key: "a", percent_agreement: 1, kappa: 1 },
    { feedback_key: "b", percent_agreement: 1, kappa: null },
  ]);
});
