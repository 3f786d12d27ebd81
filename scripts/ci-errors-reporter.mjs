// A reporter of vitest: writes errors outside of all tests, which vitest's JSON report omits, to the file that
// HEDDLE_CI_ERRORS names, as a list of lines.
import { writeFileSync } from "node:fs";

export default class ErrorsReporter {
  onTestRunEnd(_modules, errors) {
    const path = process.env["HEDDLE_CI_ERRORS"];
    if (path) writeFileSync(path, JSON.stringify(errors.map(inALine)));
  }
}

/** The error's message and the first lines of its stack that are not in a package. */
export function inALine({ name, message, stack = "", VITEST_TEST_PATH: test }) {
  const places = stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !/node_modules|node:/.test(line))
    .slice(0, 3)
    .map((line) => line.trim());
  return [`${name ?? "Error"}: ${message}`.replaceAll(/\s+/g, " ").slice(0, 600), ...places, test && `(in ${test})`]
    .filter(Boolean)
    .join(" ");
}
