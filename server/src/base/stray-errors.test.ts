import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

const MODULE = fileURLToPath(new URL("stray-errors.ts", import.meta.url));

/** Script that throws outside of every handler, in each possible way, and then reports that it is alive. */
const script = (error: string) => `
  import { surviveShortages } from ${JSON.stringify(MODULE)};
  const log = { error: (_, message) => process.stdout.write(message + "\\n") };
  surviveShortages(log);
  surviveShortages(log);
  void Promise.reject(${error});
  setTimeout(() => { throw ${error}; }, 1);
  setTimeout(() => process.stdout.write("alive\\n"), 20);
`;
const args = (code: string) => ["--import", "tsx", "--input-type=module", "-e", code];

test("an uncaught error of a full disk is logged, and the process continues", () => {
  const full = `Object.assign(new Error("write"), { code: "ENOSPC" })`;
  const output = execFileSync(process.execPath, args(script(full)), { encoding: "utf8" });
  expect(output.match(/unhandled error caused by a full disk.*; the server continues/g)).toHaveLength(4);
  expect(output).toContain("alive");
});

test("any other uncaught error ends the process with its stack", () => {
  const ended = spawnSync(process.execPath, args(script(`new Error("a bug")`)), { encoding: "utf8" });
  expect(ended.status).toBe(1);
  expect(ended.stderr).toMatch(/Error: a bug\n {4}at/);
  expect(ended.stdout).not.toContain("alive");
});
