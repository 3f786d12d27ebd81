/**
 * Tests the Python parts: ruff, pyright and pytest on the graph host, then the server's tests with Python code, the
 * conformance cases of graphs in Python, and the example in two languages. Creates its environment with the machine's
 * python3. Exits with 1 on a failure, with 77 when there is no Python or no package index.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startTestDatabase } from "./python-test-database.ts";
import { pythonEnvironment } from "./python-venv.ts";

const SKIPPED = 77;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HOST = join(ROOT, "graph-host-python");
const REQUIREMENTS = fileURLToPath(new URL("python-suite-requirements.txt", import.meta.url));

const imports = (directory: string) =>
  spawnSync(join(directory, "bin", "python"), ["-c", "import langgraph, fastapi, pytest, debugpy"], { stdio: "ignore" })
    .status === 0;
const environment = pythonEnvironment("python-suite", REQUIREMENTS, imports);
if (!environment) {
  console.log(
    "python: skipped, because its packages cannot be installed: python3 with venv and a package index are needed",
  );
  process.exit(SKIPPED);
}
const python = join(environment, "bin", "python");
const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
/** The fastest cases; `--all` runs every one. Those of the front ends and of traces do not depend on the language. */
const CASES = ["runs", "streaming", "state", "interrupts", "cancel"];
const cases = process.argv.includes("--all") ? ["--project", "conformance"] : CASES.map((name) => `${name}.test.ts`);
const steps: [name: string, command: string[], cwd: string][] = [
  ["ruff", [python, "-m", "ruff", "check", "."], HOST],
  ["pyright", [python, "-m", "pyright", "--pythonpath", python], HOST],
  ["pytest", [python, "-m", "pytest", "-q"], HOST],
  ["server", [process.execPath, vitest, "run", "--project", "python", "--retry", "1"], ROOT],
  [
    "conformance",
    [process.execPath, vitest, "run", "--config", "conformance/vitest.config.ts", "--retry", "1", ...cases],
    ROOT,
  ],
  [
    "example",
    [
      ...[process.execPath, "--import", "tsx", "scripts/check/tutorials.ts", "--linked"],
      "examples/multi-language/README.md",
    ],
    ROOT,
  ],
];
const only = process.argv.slice(2).filter((name) => name !== "--all");
const needsDatabase = only.length === 0 || only.includes("pytest");
const database = needsDatabase ? await startTestDatabase() : undefined;
let failed = 0;
for (const [name, [command, ...args], cwd] of steps) {
  if (only.length > 0 && !only.includes(name)) continue;
  const startedAt = performance.now();
  const env = {
    ...process.env,
    HEDDLE_PYTHON: python,
    HEDDLE_CONFORMANCE_LANGUAGE: "python",
    // no other step, lest the processes of graphs inherit it
    ...(name === "pytest" && { HEDDLE_TEST_DATABASE_URI: database?.uri }),
  };
  const { status } = spawnSync(command!, args, { cwd, env, stdio: "inherit" });
  console.log(`${name}: ${status === 0 ? "ok" : "failed"} (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`);
  if (status !== 0) failed += 1;
}
await database?.stop();
process.exitCode = failed > 0 ? 1 : 0;
