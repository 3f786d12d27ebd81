/**
 * Serves the project of `conformance/versions/project` with each supported version of LangGraph and checks what its
 * graphs do. Fills the matrix of docs/versions.md:
 *
 *     node --import tsx scripts/langgraph-versions.ts [--write] [--only 0.2.57,1.0.0]
 *
 * Packages come from npm, each version with its own @langchain/core. Exits with 1 when a check fails, with 77 when the
 * registry cannot be reached.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "langgraph-sdk-v1";

import { startProject } from "../conformance/server.ts";
import { CHECKS } from "../conformance/versions/checks.ts";
import { startTraceReceiver } from "../conformance/versions/trace-receiver.ts";
import { installPackages } from "./install-packages.ts";
import { SUPPORTED } from "./langgraph-supported.ts";

const PROJECT = fileURLToPath(new URL("../conformance/versions/project", import.meta.url));
const PAGE = fileURLToPath(new URL("../docs/versions.md", import.meta.url));
const CHECK_MS = 30_000;

interface Outcome {
  langgraph: string;
  core: string;
  /** Error message of each failed check. */
  failures: Map<string, string>;
}

const only = process.argv[process.argv.indexOf("--only") + 1]!.split(",");
const wanted = process.argv.includes("--only")
  ? SUPPORTED.filter(({ langgraph }) => only.includes(langgraph))
  : SUPPORTED;
if (wanted.length === 0) throw new Error(`--only: choose of ${SUPPORTED.map(({ langgraph }) => langgraph).join(", ")}`);

const outcomes: Outcome[] = [];
for (const versions of wanted) {
  const outcome = await checkVersions(versions);
  outcomes.push(outcome);
  const { langgraph, core, failures } = outcome;
  console.log(`langgraph ${langgraph}, core ${core}: ${failures.size === 0 ? "ok" : `${failures.size} failed`}`);
  for (const [name, message] of failures) console.log(`  ${name}: ${message}`);
}
if (process.argv.includes("--write")) writeMatrix(outcomes);
process.exitCode = outcomes.every(({ failures }) => failures.size === 0) ? 0 : 1;

async function checkVersions(versions: { langgraph: string; core: string }): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), "heddle-versions-"));
  const traces = await startTraceReceiver();
  Object.assign(process.env, { HEDDLE_TRACING_URL: traces.url, HEDDLE_CONSOLE: "false" });
  try {
    cpSync(PROJECT, dir, { recursive: true });
    writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }));
    installPackages(dir, [`@langchain/langgraph@${versions.langgraph}`, `@langchain/core@${versions.core}`]);
    const server = await startProject(join(dir, "langgraph.json"));
    const failures = new Map<string, string>();
    try {
      const client = new Client({ apiUrl: server.url });
      for (const { name, run } of CHECKS) {
        await withinLimit(run(client, traces)).catch((error: Error) => failures.set(name, error.message));
      }
      if (failures.size > 0 && process.env["HEDDLE_VERSIONS_LOG"]) console.log(await server.printed());
    } finally {
      await server.stop();
    }
    return { langgraph: installed(dir, "langgraph"), core: installed(dir, "core"), failures };
  } finally {
    traces.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function installed(dir: string, name: string): string {
  const file = join(dir, "node_modules/@langchain", name, "package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

function withinLimit(check: Promise<void>): Promise<void> {
  const limit = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`no result after ${CHECK_MS / 1000} s`)), CHECK_MS).unref();
  });
  return Promise.race([check, limit]);
}

/** Replaces the table between the page's markers. */
function writeMatrix(results: Outcome[]): void {
  const names = CHECKS.map(({ name }) => name);
  const rows = results.map(({ langgraph, core, failures }) => {
    const cells = names.map((name) => (failures.has(name) ? "no" : "yes"));
    return `| ${[langgraph, core, ...cells].join(" | ")} |`;
  });
  const head = ["@langchain/langgraph", "@langchain/core", ...names];
  const table = [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n");
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- matrix -->\n)[^]*?(<!-- end of matrix -->)/, `$1${table}\n$2`));
}
