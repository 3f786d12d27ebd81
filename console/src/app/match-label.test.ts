import { expect, test } from "vitest";

import { bestMatches, matchLabel } from "./match-label.ts";

test("a label that begins with the text is better than one with such a word, or with the words anywhere", () => {
  expect(matchLabel("Datasets", "data")).toBe(3);
  expect(matchLabel("New dataset", "DATA")).toBe(2);
  expect(matchLabel("New dataset", "dataset new")).toBe(1);
  expect(matchLabel("New dataset", "create dataset", "create add")).toBe(1);
  expect(matchLabel("Dark mode", "data")).toBe(0);
  const labels = ["New dataset", "Metadata", "Datasets", "Crons"].map((label) => ({ label }));
  expect(bestMatches(labels, "data").map(({ label }) => label)).toEqual(["Datasets", "New dataset", "Metadata"]);
});
