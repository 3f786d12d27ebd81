/**
 * Runs the vendor's programs for coding agents, unmodified, against a trace platform that requires keys, by its URL with
 * and without `/api/v1`: every tool of `langsmith-mcp-server` over stdio, and every command of `langsmith-fetch`.
 *
 *     node --import tsx scripts/versions/machine-clients.ts
 *
 * The checks are machines.py of conformance/langsmith. Packages are installed into `~/.cache/heddle`. Exits with 1 when
 * a check fails, with 77 when PyPI cannot be reached.
 */
import { startLockedTraces } from "../../conformance/server.ts";
import { type Check, type Client, installClient, runProgram, SKIPPED } from "./client-programs.ts";

const CLIENT: Client = {
  registry: "pypi",
  name: "machines-pypi-0.1.1",
  packages: ["langsmith-mcp-server==0.1.1", "langsmith-fetch==0.3.1", "langsmith==0.15.1", "mcp==1.30.0"],
};

if (!installClient(CLIENT)) {
  console.log("machines: skipped, because the programs cannot be installed");
  process.exit(SKIPPED);
}

const server = await startLockedTraces();
let failures = 0;
try {
  for (const path of ["", "/api/v1"]) {
    const started = performance.now();
    const env = { LANGSMITH_API_KEY: server.key, LANGSMITH_ENDPOINT: server.url + path };
    const { lines, errors, code } = await runProgram<Check>(CLIENT, { npm: "", pypi: "machines.py" }, { env });
    const failed = lines.filter(({ error }) => error !== null);
    for (const { name, error } of failed) console.log(`  ${server.url}${path}, ${name}: ${error}`);
    if (code !== 0) console.log(`  ${server.url}${path}: ${errors.slice(-2000)}`);
    failures += failed.length + (code === 0 ? 0 : 1);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `machines: ${lines.length - failed.length} of ${lines.length} checks pass at ${path || "/"}, ${seconds} s`,
    );
  }
} finally {
  await server.stop();
}
process.exit(failures > 0 ? 1 : 0);
