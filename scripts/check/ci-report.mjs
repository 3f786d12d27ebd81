// Reads vitest's JSON reports of a suite, file by file, and sums two tries.
import { readFileSync } from "node:fs";

/**
 * @typedef {{ file: string, passed: number, failed: number, skipped: number, isFailed: boolean, failures: string[], seconds: number }} FileResult
 *   `isFailed` without `failed`: an import or a hook. `failures`: each with its reason in a line.
 */

/** @returns {FileResult[] | undefined} undefined where there is no report */
export function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults.map(fileResult);
  } catch {
    return undefined;
  }
}

/**
 * Reads the errors outside of all tests that ci-errors-reporter.mjs wrote.
 * @returns {{ file?: string, message: string }[]}
 */
export function readErrors(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return [];
  }
}

/** Returns the results, with each file that an error outside of all tests belongs to as failed. @returns {FileResult[]} */
export function withErrors(results, errors) {
  return results.map((result) => {
    const messages = errors
      .filter(({ file }) => file === result.file)
      .map(({ message }) => `beside its tests: ${message}`);
    if (messages.length === 0) return result;
    return { ...result, isFailed: true, failures: [...result.failures, ...messages] };
  });
}

/** Converts one entry of a report's `testResults`. @returns {FileResult} */
export function fileResult({ name: file, status, message, assertionResults, startTime = 0, endTime = 0 }) {
  const count = (...statuses) => assertionResults.filter((test) => statuses.includes(test.status)).length;
  const failed = assertionResults.filter((test) => test.status === "failed");
  const messages = failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0] ?? ""}`);
  const failures = status === "failed" && messages.length === 0 ? [message || "failed beyond its tests"] : messages;
  return {
    file,
    passed: count("passed"),
    failed: failed.length,
    skipped: count("pending", "skipped", "todo", "disabled"),
    isFailed: status === "failed",
    seconds: (endTime - startTime) / 1000,
    failures: failures.map((text) =>
      text
        .replace(/\n\s+at .*/s, "")
        // vitest loses the message of a timeout
        .replace("Error: STACK_TRACE_ERROR", "timed out")
        .replaceAll(/\s+/g, " ")
        .slice(0, 600),
    ),
  };
}

/** The files that take the longest, in a line. */
export function slowest(results, count = 4) {
  const files = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
  return files
    .map(({ file, seconds }) => `${file.replace(/^.*\//, "").replace(/\.test\.ts$/, "")} ${Math.round(seconds)} s`)
    .join(", ");
}

/** Returns the first try, with the files of the second replaced by their second results. @returns {FileResult[]} */
export function withSecondTry(first, second) {
  const again = new Map(second.map((result) => [result.file, result]));
  return first.map((result) => again.get(result.file) ?? result);
}

/** Sums the results. A file that failed outside its tests counts as one failure. */
export function sum(results) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped, isFailed } of results) {
    total.passed += passed;
    total.failed += isFailed ? Math.max(1, failed) : failed;
    total.skipped += skipped;
  }
  return total;
}
