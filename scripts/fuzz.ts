/**
 * Schema-driven fuzzing: real servers, keys required, and schemathesis (PyPI) generating requests from their OpenAPI
 * documents, valid and invalid ones. Every response must be documented: its status, its content type, its schema; and
 * none may be a server error.
 *
 *     node --import tsx scripts/fuzz.ts [--seconds N for each space] [--space agent|trace|control] [--seed N|random]
 *
 * The seed is fixed unless given, so that a change is judged by its own effect; to search for new failures: `--seed
 * random`, and longer than usual.
 *
 * Prints the number of requests and the failures; exits with 1 when there are any, with 77 when schemathesis is
 * unavailable (no Python, no package index). The fuzzer gets ids of existing resources, or most of its requests would
 * end at 404.
 */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { type FuzzTarget, startTargets } from "./fuzz-target.ts";
import { withRealIds } from "./fuzz-ids.ts";
import { pythonEnvironment } from "./python-venv.ts";

const SKIPPED = 77;
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];
/** Extra time for a last response; then it is interrupted, and reports what it has. */
const PATIENCE_SECONDS = 60;
const USUAL_SEED = "8";
const REQUIREMENTS = fileURLToPath(new URL("fuzz-requirements.txt", import.meta.url));

const { values: flags } = parseArgs({
  options: { seconds: { type: "string" }, space: { type: "string" }, seed: { type: "string" } },
});
const seconds = Number(flags.seconds ?? 35);
/** The control plane's share of the time: its bodies and its document are smaller. */
const CONTROL_SHARE = 0.6;

const schemathesis = install();
if (!schemathesis) {
  console.log(
    "fuzz: skipped, because schemathesis cannot be installed: python3 with venv and a package index are needed",
  );
  process.exit(SKIPPED);
}
const { targets, directory, stop, log } = await startTargets(flags.space);
let requests = 0;
let wrong = 0;
try {
  for (const target of targets.filter((target) => flags.space === undefined || target.name === flags.space)) {
    const report = await fuzz(schemathesis, target);
    requests += report.requests;
    wrong += report.wrong;
    console.log(
      `fuzz: ${target.name}: ${report.requests} requests, ${report.operations} operations, ${report.wrong} wrong`,
    );
  }
} finally {
  await stop();
}
const bugs = log()
  .split("\n")
  .filter((line) => line.includes('"request failed"'));
for (const line of bugs.slice(0, 20)) console.log(line.slice(0, 2000));
console.log(
  `fuzz: ${requests} requests in all, ${wrong} answers that are not as documented, ${bugs.length} server errors logged`,
);
process.exitCode = wrong + bugs.length > 0 || requests === 0 ? 1 : 0;

function install(): string | undefined {
  const programIn = (directory: string) => join(directory, "bin", "schemathesis");
  const works = (directory: string) => spawnSync(programIn(directory), ["--version"], { stdio: "ignore" }).status === 0;
  const directory = pythonEnvironment("schemathesis", REQUIREMENTS, works);
  return directory && programIn(directory);
}

async function fuzz(program: string, target: FuzzTarget) {
  const { url, key } = target;
  const time = target.name === "control" ? Math.ceil(seconds * CONTROL_SHARE) : seconds;
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Parameters<typeof withRealIds>[0];
  const schema = join(directory, `${target.name}.json`);
  writeFileSync(schema, JSON.stringify(withRealIds(document, target.ids)));
  const report = join(directory, `${target.name}-report.json`);
  // event streams of threads end only with the server
  const endless = ["--exclude-path-regex", "/stream/events$"];
  const args = ["run", schema, "--url", url, "--header", `x-api-key: ${key}`, "--checks", CHECKS.join(",")];
  args.push("--max-time", String(time), "--request-timeout", "20", "--continue-on-failure", "--no-color");
  args.push(...endless, "--warnings", "off", "--no-shrink", "--report", "json", "--report-json-path", report);
  if (flags.seed !== "random") args.push("--seed", flags.seed ?? USUAL_SEED);
  const cancelling = target.name === "agent" ? setInterval(() => void cancelPending(target), 3000) : undefined;
  const stdout = await runProgram(program, args).finally(() => clearInterval(cancelling));
  const results = JSON.parse(readFileSync(report, "utf8")) as {
    operations: { tested: number };
    test_cases: { generated: number; unique_failures: number; errored: number };
    errors: unknown[];
  };
  const unanswered = await checkKey(target);
  const failures = results.test_cases.unique_failures + results.errors.length + unanswered;
  if (failures > 0) {
    // generating bodies of megabytes is intended, printing them is not
    console.log(stdout.replace(/[^\n]{600,}/g, (line) => `${line.slice(0, 600)}…`));
    console.log(`again with --space ${target.name} --seed ${/^Seed: (\d+)/m.exec(stdout)?.[1]}`);
  }
  return { requests: results.test_cases.generated, operations: results.operations.tested, wrong: failures };
}

/** Returns the output without blocking: the other side would close idle connections. Exit code 1 means findings. */
function runProgram(program: string, args: string[]): Promise<string> {
  const options = { cwd: directory, maxBuffer: 1e9 };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (_, stdout) => {
      clearTimeout(patience);
      clearTimeout(end);
      resolve(stdout);
    });
    const patience = setTimeout(() => child.kill("SIGINT"), (seconds + PATIENCE_SECONDS) * 1000);
    const end = setTimeout(() => child.kill("SIGKILL"), (seconds + PATIENCE_SECONDS + 20) * 1000);
  });
}

/** Cancels pending runs: the fuzzer also creates runs that start in a year, and waits for them. */
async function cancelPending({ url, key }: FuzzTarget): Promise<void> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const body = JSON.stringify({ status: "pending" });
  await fetch(`${url}/runs/cancel`, { method: "POST", headers, body }).catch(() => {});
}

/** Checks that the key still works; if the fuzzer has revoked it, later requests tested only 401. */
async function checkKey({ name, url, key, probe }: FuzzTarget): Promise<number> {
  const { status } = await fetch(url + probe, { headers: { "x-api-key": key } });
  if (status !== 401 && status !== 403) return 0;
  console.log(`fuzz: ${name}: the fuzzer has shut itself out`);
  return 1;
}
