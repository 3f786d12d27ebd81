// npm test: installs missing packages, then runs vitest with any further arguments.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ensureInstalled, ROOT } from "../build/ensure-installed.mjs";

await ensureInstalled();
const args = process.argv.slice(2);
// .ci/run also runs the suites that take minutes: --project crash, --project package.
const projects = args.some((arg) => arg.startsWith("--project")) ? [] : ["--project", "pure", "--project", "db"];
const child = spawn(
  process.execPath,
  [join(ROOT, "node_modules", "vitest", "vitest.mjs"), "run", ...projects, ...args],
  {
    cwd: ROOT,
    stdio: "inherit",
  },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
