/**
 * Runs the official Python client of the trace platform, unmodified, against a real server; the cases are in
 * scripts/versions/python-client.py. Exits with 1 on a failure, with 77 when the client is unavailable.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startTraces } from "../../conformance/server.ts";
import { pythonEnvironment } from "../services/python-venv.ts";

const SKIPPED = 77;
const REQUIREMENTS = fileURLToPath(new URL("python-client-requirements.txt", import.meta.url));
const SCRIPT = fileURLToPath(new URL("python-client.py", import.meta.url));

const imports = (directory: string) =>
  spawnSync(join(directory, "bin", "python"), ["-c", "import langsmith, zstandard"], { stdio: "ignore" }).status === 0;
const environment = pythonEnvironment("langsmith", REQUIREMENTS, imports);
if (!environment) {
  console.log(
    "python: skipped, because langsmith cannot be installed: python3 with venv and a package index are needed",
  );
  process.exit(SKIPPED);
}
const server = await startTraces();
try {
  const env = { PATH: process.env["PATH"] ?? "", LANGSMITH_ENDPOINT: server.url, LANGSMITH_TRACING: "true" };
  const { status } = spawnSync(join(environment, "bin", "python"), ["-W", "ignore::DeprecationWarning", SCRIPT], {
    env: { ...env, LANGSMITH_API_KEY: "none" },
    stdio: "inherit",
    timeout: 120_000,
  });
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  await server.stop();
}
