/**
 * Tests the Python graph host with pairs of Python and langgraph: its pytest suite, then `heddle dev` on
 * `conformance/project-python` and, where langchain 1 or deepagents is installed, on `conformance/versions/agents`.
 * Fills the matrix of docs/versions.md:
 *
 *     node --import tsx scripts/python-versions.ts [--write] [--only 0.6.11,3.13]
 *
 * `--only` selects pairs by the version of Python or of langgraph. A pair whose interpreter the machine lacks is
 * reported and left out. Exits with 1 when a check fails, with 77 when no pair could be tested.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "langgraph-sdk-v1";

import { startProject } from "../conformance/server.ts";
import { AGENT_CHECKS, type PythonCheck, PYTHON_CHECKS } from "../conformance/versions/python-checks.ts";
import { startTraceReceiver } from "../conformance/versions/trace-receiver.ts";
import { createEnvironment, findPython, installedVersions } from "./python-environments.ts";
import { PYTHON_PAIRS, type PythonPair } from "./python-supported.ts";
import { startTestDatabase } from "./python-test-database.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "docs", "versions.md");
const CHECK_MS = 20_000;
const SKIPPED = 77;
const HOST_TESTS = "host tests";
const TEST_PACKAGES = ["pytest", "pytest-asyncio", "psycopg[binary]", "langgraph-sdk"];
/** Tests that need a module which not every environment has. */
const OPTIONAL_TESTS = [
  { test: "tests/test_saver_conformance.py", needs: "langgraph.checkpoint.conformance" },
  { test: "tests/test_load_graphs.py::test_passes_the_runtime_to_factories", needs: "langgraph_sdk.runtime" },
];

interface Outcome {
  python: string;
  langgraph: string;
  core: string;
  /** Error message of each failed check, null of each passed one; checks that were left out are missing. */
  checks: Map<string, string | null>;
}

const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1]!.split(",") : undefined;
const wanted = PYTHON_PAIRS.filter(
  ({ python, langgraph }) => !only || only.includes(python) || only.includes(langgraph),
);
if (wanted.length === 0) throw new Error("--only selects no pair");
if (only && process.argv.includes("--write")) throw new Error("--write needs all pairs: leave out --only");

const outcomes: Outcome[] = [];
const database = await startTestDatabase();
try {
  for (const pair of wanted) {
    const interpreter = findPython(pair.python);
    if (interpreter) outcomes.push(await checkPair(pair, interpreter));
    else console.log(`python ${pair.python}: left out, because there is no python${pair.python}`);
  }
} finally {
  await database.stop();
}
if (outcomes.length === 0) process.exit(SKIPPED);
const results = outcomes.flatMap(({ checks }) => [...checks.values()]);
const failed = results.filter((message) => message !== null).length;
console.log(matrix());
console.log(`${results.length - failed} passed, ${failed} failed`);
if (process.argv.includes("--write")) {
  if (outcomes.length < PYTHON_PAIRS.length) throw new Error("--write needs the interpreters of all pairs");
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- python -->\n)[^]*?(<!-- end of python -->)/, `$1${matrix()}\n$2`));
}
process.exitCode = failed > 0 ? 1 : 0;

async function checkPair(pair: PythonPair, interpreter: string): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-python-versions-"));
  try {
    const packages = [`langgraph==${pair.langgraph}`, ...pair.packages, ...TEST_PACKAGES];
    const python = createEnvironment(join(directory, "venv"), interpreter, packages);
    const named = ["langgraph", "langchain-core", "langgraph-checkpoint", "langchain", "deepagents"];
    const versions = installedVersions(python, named);
    console.log(`python ${pair.python}: ${named.map((name) => `${name} ${versions[name] ?? "–"}`).join(", ")}`);
    const checks = new Map<string, string | null>();
    report(checks, HOST_TESTS, runHostTests(python));
    await checkProject("conformance/project-python", PYTHON_CHECKS, python, checks);
    const agents = AGENT_CHECKS.filter(({ needs }) => versions[needs!] !== undefined);
    if (agents.length > 0) await checkProject("conformance/versions/agents", agents, python, checks);
    return { python: pair.python, langgraph: versions["langgraph"]!, core: versions["langchain-core"]!, checks };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function report(checks: Map<string, string | null>, name: string, failure: string | null): void {
  checks.set(name, failure);
  console.log(`  ${name}: ${failure ?? "ok"}`);
}

/** Runs the pytest suite. Returns the output of a failed one. */
function runHostTests(python: string): string | null {
  const missing = OPTIONAL_TESTS.filter(({ needs }) => spawnSync(python, ["-c", `import ${needs}`]).status !== 0);
  for (const { test, needs } of missing) console.log(`  ${test}: left out, because it needs ${needs}`);
  const { status, stdout, stderr } = spawnSync(
    python,
    // a file that cannot be imported can only be ignored
    [
      ...["-m", "pytest", "-q", "--tb=short"],
      ...missing.map(({ test }) => `${test.includes("::") ? "--deselect" : "--ignore"}=${test}`),
    ],
    {
      cwd: join(ROOT, "graph-host-python"),
      env: { ...process.env, HEDDLE_TEST_DATABASE_URI: database.uri },
      encoding: "utf8",
    },
  );
  const lines = stdout.trimEnd().split("\n");
  console.log(`  pytest: ${lines.at(-1)}`);
  return status === 0 ? null : `${lines.slice(-60).join("\n")}${stderr}`;
}

async function checkProject(
  project: string,
  wantedChecks: PythonCheck[],
  python: string,
  checks: Map<string, string | null>,
): Promise<void> {
  const traces = await startTraceReceiver();
  Object.assign(process.env, { HEDDLE_TRACING_URL: traces.url, HEDDLE_CONSOLE: "false", HEDDLE_PYTHON: python });
  try {
    const server = await startProject(join(ROOT, project, "langgraph.json"));
    try {
      const client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
      for (const { name, run } of wantedChecks) {
        const failure = await withinLimit(run(client, traces)).then(
          () => null,
          (error: Error) => error.message,
        );
        report(checks, name, failure);
      }
      if (process.env["HEDDLE_VERSIONS_LOG"]) console.log(await server.printed());
    } finally {
      await server.stop();
    }
  } finally {
    traces.close();
  }
}

function withinLimit(check: Promise<void>): Promise<void> {
  const limit = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`no result after ${CHECK_MS / 1000} s`)), CHECK_MS).unref();
  });
  return Promise.race([check, limit]);
}

function matrix(): string {
  const names = [HOST_TESTS, ...[...PYTHON_CHECKS, ...AGENT_CHECKS].map(({ name }) => name)];
  const rows = outcomes.map(({ python, langgraph, core, checks }) => {
    const cells = names.map((name) => (checks.has(name) ? (checks.get(name) === null ? "yes" : "no") : "–"));
    return `| ${[python, langgraph, core, ...cells].join(" | ")} |`;
  });
  const head = ["Python", "langgraph", "langchain-core", ...names];
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n");
}
