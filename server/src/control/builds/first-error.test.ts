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
  [
    [
      "  × No solution found when resolving dependencies:",
      "  ╰─▶ Because there is no version of heddle-absent==1 and you require heddle-absent==1, we can conclude that your",
      "      requirements are unsatisfiable.",
    ],
    ": No solution found when resolving dependencies. Because there is no version of heddle-absent==1 and you require heddle-absent==1, we can conclude that your",
  ],
  [
    [
      "ERROR: Could not find a version that satisfies the requirement heddle-absent==1 (from versions: none)",
      "ERROR: No matching distribution found for heddle-absent==1",
    ],
    ": ERROR: Could not find a version that satisfies the requirement heddle-absent==1 (from versions: none)",
  ],
  [
    ["The virtual environment was not created successfully because ensurepip is not", "available."],
    ": The virtual environment was not created successfully because ensurepip is not",
  ],
  [
    [
      "  × Failed to fetch: `https://index.example/simple/langgraph/`",
      "  ├─▶ Request failed after 3 retries",
      "  ╰─▶ invalid peer certificate: UnknownIssuer",
      "  help: Consider enabling use of system TLS certificates",
    ],
    ": Failed to fetch: `https://index.example/simple/langgraph/`. invalid peer certificate: UnknownIssuer",
  ],
  [["  × Failed to build `a`", "hint: none"], ": Failed to build `a`"],
  [["/bin/sh: 1: make: not found"], ": /bin/sh: 1: make: not found"],
  [["0 errors", "compiled error-free", "done"], "."],
])("finds the first error in %j", (lines, expected) => {
  const first = new FirstError();
  for (const line of lines) first.read(line);
  expect(first.text()).toBe(expected);
});
