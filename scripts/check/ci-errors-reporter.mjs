// A reporter of vitest: writes errors outside of all tests, which vitest's JSON report omits, to the file that
// HEDDLE_CI_ERRORS names. An error has the test file that ran when it was thrown, if vitest knows it.
import { writeFileSync } from "node:fs";

export default class ErrorsReporter {
  onTestRunEnd(_modules, errors) {
    const path = process.env["HEDDLE_CI_ERRORS"];
    if (!path) return;
    const entries = errors.map((error) => ({ file: error.VITEST_TEST_PATH, message: inALine(error) }));
    writeFileSync(path, JSON.stringify(entries));
  }
}

/** The error's message and the first lines of its stack that are not in a package. */
export function inALine({ name, message, stack = "" }) {
  const places = stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !/node_modules|node:/.test(line))
    .slice(0, 3)
    .map((line) => line.trim());
  return [`${name ?? "Error"}: ${message}`.replaceAll(/\s+/g, " ").slice(0, 600), ...places].join(" ");
}
