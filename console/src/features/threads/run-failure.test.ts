import { expect, test } from "vitest";

import { readFailure } from "./run-failure.ts";

test("reads a failure from an object, its JSON and bare text", () => {
  const reported = { error: "GraphRecursionError", message: "Recursion limit reached\n", stack: "at loop" };
  const read = { name: "GraphRecursionError", message: "Recursion limit reached", stack: "at loop" };
  expect(readFailure(reported)).toEqual(read);
  expect(readFailure(JSON.stringify(reported))).toEqual(read);
  expect(readFailure('{"message":"no bread","name":"CustomError"}')).toEqual({
    name: "CustomError",
    message: "no bread",
    stack: null,
  });
  expect(readFailure("{no json")).toEqual({ name: null, message: "{no json", stack: null });
  expect(readFailure({ code: 7 })?.message).toBe('{"code":7}');
  expect([readFailure(null), readFailure(undefined), readFailure("")]).toEqual([null, null, null]);
});
