import { expect, test } from "vitest";

import { FirstError } from "./run-command.ts";

test.each([
  [
    [
      "npm error code EUSAGE",
      "npm error",
      "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.",
      "npm error Missing: left-pad@1.3.0 from lock file",
      "npm error Clean install a project",
      "npm error Usage:",
      "npm error npm ci",
    ],
    ": `npm ci` can only install packages when your package.json and package-lock.json are in sync.",
  ],
  [
    ["added 3 packages", "src/graph.ts(3,1): error TS2304: Cannot find name 'x'."],
    ": src/graph.ts(3,1): error TS2304: Cannot find name 'x'.",
  ],
  [
    [
      "npm warn deprecated x@1",
      '\u001B[31m✘ \u001B[41;31m[\u001B[41;97mERROR\u001B[41;31m]\u001B[0m Could not resolve "x"',
    ],
    ': ✘ [ERROR] Could not resolve "x"',
  ],
  [
    [" ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with frozen-lockfile"],
    ": ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with frozen-lockfile",
  ],
  [["TypeError: x is not a function"], ": TypeError: x is not a function"],
  [["0 errors", "compiled error-free", "done"], "."],
])("finds the first error in %j", (lines, expected) => {
  const first = new FirstError();
  for (const line of lines) first.read(line);
  expect(first.text()).toBe(expected);
});
