/**
 * Runs the tests that need a Kubernetes cluster, file by file, and prints how many passed, failed and were skipped:
 *
 *     node --import tsx scripts/services/kubernetes-suite.ts [--image HEDDLE.tar] [--agent-image AGENT.tar] [WORD…]
 *
 * Builds Kubernetes first if it is missing, which takes half an hour and needs Go, and the image of agent servers.
 * `--image`: archive of Dockerfile's image (`podman save`), tagged `localhost/heddle:VERSION`, without which the tests
 * of the installation and of the tutorial are skipped. Words select files by their path. Exits with 1 on a failure, with
 * 77 when programs are missing that only the system can install.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { missingPrograms } from "../../test/kubernetes/binaries.ts";

const SKIPPED = 77;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");

interface FileResult {
  file: string;
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { image: { type: "string" }, "agent-image": { type: "string" } },
});

/** Runs a program with this terminal. @returns its exit code */
const run = (args: string[], env: NodeJS.ProcessEnv = process.env): number =>
  spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: "inherit" }).status ?? 1;

if (missingPrograms().length > 0) run(["--import", "tsx", "scripts/services/kubernetes.ts", "build"]);
const missing = missingPrograms();
if (missing.length > 0) {
  console.log(`kubernetes: skipped, because programs are missing: ${missing.join(", ")}`);
  process.exit(SKIPPED);
}
const directory = mkdtempSync(join(tmpdir(), "heddle-suite-"));
let isOk = true;
try {
  const agentImage = values["agent-image"] ?? join(directory, "agent.tar");
  if (values["agent-image"] === undefined) run(["scripts/build/agent-image.mjs", agentImage]);
  const env = {
    ...process.env,
    HEDDLE_TEST_AGENT_IMAGE: agentImage,
    ...(values.image !== undefined && { HEDDLE_TEST_IMAGE: values.image }),
  };
  const files = ["test/kubernetes", "server/src"]
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
    )
    .filter((file) => file.endsWith(".kubernetes.test.ts"));
  const selected = files.filter((file) => positionals.length === 0 || positionals.some((word) => file.includes(word)));
  const results = selected.sort().map((file) => runFile(file, env));
  for (const result of results) console.log(describe(result));
  const total = (key: "passed" | "failed" | "skipped") => results.reduce((sum, result) => sum + result[key], 0);
  console.log(`kubernetes: ${total("passed")} passed, ${total("failed")} failed, ${total("skipped")} skipped`);
  isOk = results.length > 0 && total("failed") === 0;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = isOk ? 0 : 1;

/** Runs a file in a separate process, so that the cluster of a failed one is not left to the next. */
function runFile(file: string, env: NodeJS.ProcessEnv): FileResult {
  const output = join(directory, "results.json");
  rmSync(output, { force: true });
  const startedAt = performance.now();
  const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${output}`];
  const status = run([VITEST, "run", "--project", "kubernetes", ...reporters, file], env);
  const seconds = (performance.now() - startedAt) / 1000;
  try {
    const found = JSON.parse(readFileSync(output, "utf8")) as Record<
      "numPassedTests" | "numFailedTests" | "numPendingTests",
      number
    >;
    const failed = found.numFailedTests === 0 && status !== 0 ? 1 : found.numFailedTests;
    return { file, passed: found.numPassedTests, failed, skipped: found.numPendingTests, seconds };
  } catch {
    return { file, passed: 0, failed: 1, skipped: 0, seconds };
  }
}

function describe({ file, passed, failed, skipped, seconds }: FileResult): string {
  return `${file}: ${passed} passed, ${failed} failed, ${skipped} skipped (${seconds.toFixed(0)} s)`;
}
