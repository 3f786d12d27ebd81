import { expect, test } from "vitest";

// @ts-expect-error -- a script, without types
import { fileResult, slowest, sum, withErrors, withSecondTry } from "./ci-report.mjs";
// @ts-expect-error -- a script, without types
import { inALine } from "./ci-errors-reporter.mjs";

const assertion = (status: string, fullName = "a") => ({
  status,
  fullName,
  failureMessages: status === "failed" ? ["Error:\n no\n    at x\n    at y"] : [],
});
const file = (name: string, status: string, ...assertionResults: unknown[]) =>
  fileResult({ name, status, message: "cannot import it", assertionResults });

test("counts tests by outcome, and reports each failure in a line", () => {
  const results = [
    file("a", "failed", assertion("passed"), assertion("failed", "holds"), assertion("pending")),
    file("b", "passed", assertion("passed"), assertion("todo")),
  ];
  expect(sum(results)).toEqual({ passed: 2, failed: 1, skipped: 2 });
  expect(results[0].failures).toEqual(["holds: Error: no"]);
});

test("names the files that take the longest", () => {
  const timed = (name: string, endTime: number) =>
    fileResult({ name, status: "passed", assertionResults: [], startTime: 1000, endTime });
  expect(slowest([timed("/p/a.test.ts", 3000), timed("/p/b.db.test.ts", 9400)], 1)).toBe("b.db 8 s");
});

test("says that a test timed out", () => {
  const late = { ...assertion("failed", "waits"), failureMessages: ["Error: STACK_TRACE_ERROR\n    at x"] };
  expect(file("a", "failed", late).failures).toEqual(["waits: timed out"]);
});

test("reports a file that fails outside its tests as a failure", () => {
  const result = file("a", "failed", assertion("pending"));
  expect(result.failures).toEqual(["cannot import it"]);
  expect(sum([result])).toEqual({ passed: 0, failed: 1, skipped: 1 });
});

test("the second try of a file replaces its first, passed or failed", () => {
  const first = [file("a", "failed", assertion("failed")), file("b", "failed", assertion("failed"))];
  const second = [file("a", "passed", assertion("passed"))];
  expect(sum(withSecondTry(first, second))).toEqual({ passed: 1, failed: 1, skipped: 0 });
  const worse = [file("b", "failed", assertion("failed"), assertion("failed"))];
  expect(sum(withSecondTry(first, worse))).toEqual({ passed: 0, failed: 3, skipped: 0 });
});

test("an error outside of all tests is reported with its place in the project", () => {
  const error = {
    name: "TypeError",
    message: "fetch\n failed",
    stack:
      "TypeError: fetch\n    at node:internal/x:1\n    at ask (/p/server/src/ask.ts:3:1)\n    at /p/node_modules/y.js:1",
  };
  expect(inALine(error)).toBe("TypeError: fetch failed at ask (/p/server/src/ask.ts:3:1)");
  expect(inALine({ message: "no" })).toBe("Error: no");
});

test("an error outside of all tests fails the file that ran", () => {
  const results = [file("a", "passed", assertion("passed")), file("b", "passed", assertion("passed"))];
  const failed = withErrors(results, [{ file: "b", message: "Error: no" }, { message: "Error: of no file" }]);
  expect(failed[0]).toMatchObject({ isFailed: false, failures: [] });
  expect(failed[1]).toMatchObject({ isFailed: true, failures: ["beside its tests: Error: no"] });
  expect(sum(failed)).toEqual({ passed: 2, failed: 1, skipped: 0 });
});
