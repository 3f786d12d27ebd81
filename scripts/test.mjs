// npm test: installs what is missing, then runs vitest; further arguments go to it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ensureInstalled, ROOT } from "./ensure-installed.mjs";

await ensureInstalled();
const given = process.argv.slice(2);
// The suites that take minutes are run by .ci/run: --project crash, --project package.
const projects = given.some((arg) => arg.startsWith("--project")) ? [] : ["--project", "pure", "--project", "db"];
const child = spawn(
  process.execPath,
  [join(ROOT, "node_modules", "vitest", "vitest.mjs"), "run", ...projects, ...given],
  {
    cwd: ROOT,
    stdio: "inherit",
  },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
