import { expect, test } from "vitest";

import { UsageError } from "./flags.ts";
import { withVariables } from "./project-environment.ts";

test("NAME=VALUE sets, NAME takes the caller's value, and NAME= removes", () => {
  const before = { A: "1", B: "2", C: "3" };
  expect(withVariables(before, ["A=x=y", "B=", "D", "E=5"], { D: "here" })).toEqual({
    A: "x=y",
    C: "3",
    D: "here",
    E: "5",
  });
});

test.each([["=1"], ["1A=1"], ["A B=1"], [""], ["MISSING"]])("rejects --env %j", (text) => {
  expect(() => withVariables({}, [text], {})).toThrow(UsageError);
});
