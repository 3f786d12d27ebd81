/**
 * Runs the conformance suite with each supported version of LangGraph.js, and fills the matrix of docs/versions.md:
 *
 *     node --import tsx scripts/versions/langgraph-versions.ts [--write] [--only 0.2.57,1.0.0] [--files interrupts,state]
 *
 * Packages come from npm, each version with its own @langchain/core. Exits with 1 when a case fails, with 77 when the
 * registry cannot be reached.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { lackedBy } from "../../conformance/lacks.ts";
import { matrixRow, matrixText, runConformance } from "./conformance-matrix.ts";
import { installPackages } from "../build/install-packages.ts";
import { SUPPORTED, type SupportedVersion } from "./langgraph-supported.ts";

const CONFORMANCE = fileURLToPath(new URL("../../conformance", import.meta.url));
const PAGE = fileURLToPath(new URL("../../docs/versions.md", import.meta.url));
const PROJECTS = ["project", "custom-project", "agents"];

const listed = (flag: string): string[] =>
  process.argv.includes(flag) ? process.argv[process.argv.indexOf(flag) + 1]!.split(",") : [];
const [only, files, writes] = [listed("--only"), listed("--files"), process.argv.includes("--write")];
if (writes && only.length + files.length > 0)
  throw new Error("--write needs the whole matrix: leave out --only and --files");
const wanted = SUPPORTED.filter(({ langgraph }) => only.length === 0 || only.includes(langgraph));
if (wanted.length === 0) throw new Error(`--only: choose of ${SUPPORTED.map(({ langgraph }) => langgraph).join(", ")}`);

const rows: string[] = [];
for (const versions of wanted) {
  const { row, failures } = await checkVersion(versions);
  rows.push(row);
  console.log(row);
  for (const failure of failures) console.log(`  ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}
if (writes) {
  const text = matrixText(["@langchain/langgraph", "@langchain/core"], rows, "javascript");
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- matrix -->\n)[^]*?(<!-- end of matrix -->)/, `$1${text}\n$2`));
}

async function checkVersion({ langgraph, packages }: SupportedVersion): Promise<{ row: string; failures: string[] }> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-versions-"));
  try {
    writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, type: "module" }));
    for (const name of PROJECTS) cpSync(join(CONFORMANCE, name), join(directory, name), { recursive: true });
    installPackages(directory, [`@langchain/langgraph@${langgraph}`, ...packages]);
    const verdict = runConformance({ HEDDLE_CONFORMANCE_PROJECTS: directory }, files);
    const versions = [installed(directory, "langgraph"), installed(directory, "core")];
    return { row: matrixRow(versions, verdict, lackedBy("javascript", langgraph)), failures: verdict.failures };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function installed(directory: string, name: string): string {
  const file = join(directory, "node_modules/@langchain", name, "package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
