/**
 * Answers interrupts in the moment in which they become visible, on every protocol, and counts the rejected answers:
 *
 *     node --import tsx scripts/versions/immediate-answers.ts [--count 200] [--only NAME]…
 *
 * `--only python` runs only the loop of the official Python client, which is left out if it cannot be installed. Exits
 * with 1 if an answer was rejected.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { PROTOCOLS, rejections } from "../../conformance/immediate-answers.ts";
import { startServer } from "../../conformance/server.ts";
import { pythonEnvironment } from "../services/python-venv.ts";

const { values } = parseArgs({
  options: { count: { type: "string", default: "200" }, only: { type: "string", multiple: true } },
});
const count = Number(values.count);
const isWanted = (name: string) => !values.only || values.only.includes(name);
const PYTHON = fileURLToPath(new URL("immediate-answers.py", import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL("../services/python-suite-requirements.txt", import.meta.url));

const server = await startServer();
try {
  for (const [name, connect] of Object.entries(PROTOCOLS)) {
    if (!isWanted(name)) continue;
    const startedAt = performance.now();
    const rejected = await rejections(await connect(server.url), count);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.log(`${name}: ${rejected.length} of ${count} answers rejected (${seconds} s)`);
    for (const message of new Set(rejected)) console.log(`  ${message}`);
    if (rejected.length > 0) process.exitCode = 1;
  }
  if (isWanted("python") && !runPython()) process.exitCode = 1;
} finally {
  await server.stop();
}

/** Runs the same with the Python client. @returns false if an answer was rejected */
function runPython(): boolean {
  const python = (directory: string) => join(directory, "bin", "python");
  const imports = (directory: string) =>
    spawnSync(python(directory), ["-c", "import langgraph_sdk"], { stdio: "ignore" }).status === 0;
  const environment = pythonEnvironment("python-suite", REQUIREMENTS, imports);
  if (!environment) {
    console.log("python: left out, because langgraph-sdk cannot be installed");
    return true;
  }
  return spawnSync(python(environment), [PYTHON, server.url, String(count)], { stdio: "inherit" }).status === 0;
}
