/**
 * Tests the Python graph host with pairs of Python and langgraph: its pytest suite, then the conformance suite on the
 * projects in Python. Fills the matrix of docs/versions.md:
 *
 *     node --import tsx scripts/versions/python-versions.ts [--write] [--only 0.6.11,3.13] [--files interrupts,state]
 *
 * `--only` selects pairs by the version of Python or of langgraph. A pair whose interpreter the machine lacks is
 * reported and left out. Exits with 1 when a case fails, with 77 when no pair could be tested.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { lackedBy } from "../../conformance/lacks.ts";
import { matrixRow, matrixText, runConformance } from "./conformance-matrix.ts";
import { createEnvironment, findPython, installedVersions } from "../services/python-environments.ts";
import { PYTHON_PAIRS, type PythonPair } from "./python-supported.ts";
import { startTestDatabase } from "../services/python-test-database.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = join(ROOT, "docs", "versions.md");
const SKIPPED = 77;
const TEST_PACKAGES = ["pytest", "pytest-asyncio", "psycopg[binary]", "debugpy", "langgraph-sdk", "fastapi"];
/** Tests that need modules which not every environment has. */
const OPTIONAL_TESTS = [
  { test: "tests/test_saver_conformance.py", needs: "langgraph.checkpoint.conformance, langgraph.checkpoint.postgres" },
  { test: "tests/test_load_graphs.py::test_passes_the_runtime_to_factories", needs: "langgraph_sdk.runtime" },
];

const listed = (flag: string): string[] =>
  process.argv.includes(flag) ? process.argv[process.argv.indexOf(flag) + 1]!.split(",") : [];
const [only, files, writes] = [listed("--only"), listed("--files"), process.argv.includes("--write")];
const wanted = PYTHON_PAIRS.filter(
  ({ python, langgraph }) => only.length === 0 || only.includes(python) || only.includes(langgraph),
);
if (wanted.length === 0) throw new Error("--only selects no pair");
if (writes && only.length + files.length > 0)
  throw new Error("--write needs the whole matrix: leave out --only and --files");

const rows: string[] = [];
const database = await startTestDatabase();
try {
  for (const pair of wanted) {
    const interpreter = findPython(pair.python);
    if (!interpreter) {
      console.log(`python ${pair.python}: left out, because there is no python${pair.python}`);
      continue;
    }
    const { row, failures } = checkPair(pair, interpreter);
    rows.push(row);
    console.log(row);
    for (const failure of failures) console.log(`  ${failure}`);
    if (failures.length > 0) process.exitCode = 1;
  }
} finally {
  await database.stop();
}
if (rows.length === 0) process.exit(SKIPPED);
if (writes) {
  if (rows.length < PYTHON_PAIRS.length) throw new Error("--write needs the interpreters of all pairs");
  const text = matrixText(["Python", "langgraph", "langchain-core", "host tests"], rows, "python");
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- python -->\n)[^]*?(<!-- end of python -->)/, `$1${text}\n$2`));
}

function checkPair(pair: PythonPair, interpreter: string): { row: string; failures: string[] } {
  const directory = mkdtempSync(join(tmpdir(), "heddle-python-versions-"));
  try {
    const packages = [`langgraph==${pair.langgraph}`, ...pair.packages, ...TEST_PACKAGES];
    const python = createEnvironment(join(directory, "venv"), interpreter, packages);
    const named = ["langgraph", "langchain-core", "langgraph-checkpoint", "langchain", "deepagents"];
    const versions = installedVersions(python, named);
    console.log(`python ${pair.python}: ${named.map((name) => `${name} ${versions[name] ?? "–"}`).join(", ")}`);
    const hostFailure = files.length === 0 ? runHostTests(python) : null;
    const settings = { HEDDLE_CONFORMANCE_LANGUAGE: "python", HEDDLE_PYTHON: python };
    const verdict = runConformance(settings, files);
    const tested = files.length > 0 ? "–" : hostFailure === null ? "yes" : "no";
    const cells = [pair.python, versions["langgraph"]!, versions["langchain-core"]!, tested];
    return {
      row: matrixRow(cells, verdict, lackedBy("python", pair.langgraph)),
      failures: [...(hostFailure === null ? [] : [hostFailure]), ...verdict.failures],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
