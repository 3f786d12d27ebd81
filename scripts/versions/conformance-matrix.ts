/** Runs the conformance suite against one version of LangGraph, for the matrices of docs/versions.md. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { LACKS, type Language } from "../../conformance/lacks.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIMIT_MS = 30 * 60_000;

/** Columns of the matrices, with the suite's files; `keys`, `openapi` and `system` concern no graph. */
const COLUMNS: Record<string, string[]> = {
  runs: ["runs", "unusual-input", "errors", "crons-webhooks", "control-flow"],
  cancels: ["cancel", "cancel-many", "double-texting"],
  streams: ["streaming", "subgraphs", "library-stream", "rejoin", "reconnect", "pressure", "thread-stream"],
  interrupts: ["interrupts", "tools", "immediate-answers", "use-stream"],
  state: ["state", "nested-updates", "time-travel", "threads"],
  schemas: ["assistants"],
  store: ["store"],
  "protocol v2": ["protocol-v2"],
  "MCP, A2A": ["mcp", "a2a"],
  "auth, app": ["custom-project"],
  traces: ["traced"],
  agents: ["agents"],
};

interface TestReport {
  testResults: {
    name: string;
    message: string;
    status: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

export interface Verdict {
  /** By column: all cases passed, some failed, or all were left out. */
  cells: Map<string, "yes" | "no" | "–">;
  failures: string[];
}

/** Runs the suite in `language` with `settings`; `only` names files. */
export function runConformance(settings: Record<string, string>, only: string[] = []): Verdict {
  const directory = mkdtempSync(join(tmpdir(), "heddle-matrix-"));
  try {
    const report = join(directory, "report.json");
    const files = (only.length > 0 ? only : Object.values(COLUMNS).flat()).map((name) => `${name}.test.ts`);
    const args = ["run", "--config", "conformance/vitest.config.ts", "--project", "conformance", "--project", "alone"];
    const options = ["--retry", "1", "--reporter", "json", "--outputFile", report];
    const { stderr } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", ...args, ...options, ...files], {
      cwd: ROOT,
      env: { ...process.env, ...settings },
      encoding: "utf8",
      timeout: LIMIT_MS,
    });
    return judge(JSON.parse(readReport(report, stderr)) as TestReport);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readReport(file: string, stderr: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new Error(`the conformance suite did not run:\n${stderr.slice(-3000)}`);
  }
}

function judge({ testResults }: TestReport): Verdict {
  if (testResults.length === 0) throw new Error("the conformance suite has run no file");
  const cells: Verdict["cells"] = new Map();
  const failures: string[] = [];
  for (const [column, files] of Object.entries(COLUMNS)) {
    const reports = testResults.filter(({ name }) => files.includes(basename(name).replace(/\.test\.tsx?$/, "")));
    if (reports.length === 0) continue;
    const cases = reports.flatMap(({ assertionResults }) => assertionResults);
    const broken = reports.filter(
      ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
    );
    const failed = cases.filter(({ status }) => status === "failed");
    for (const { name, message } of broken) failures.push(`${basename(name)}: ${message}`);
    for (const { fullName, failureMessages } of failed) failures.push(`${fullName}: ${failureMessages[0] ?? ""}`);
    const passes = cases.some(({ status }) => status === "passed");
    cells.set(column, broken.length + failed.length > 0 ? "no" : passes ? "yes" : "–");
  }
  return { cells, failures };
}

/** Returns a row: the cells of `verdict` between the versions and what they lack. */
export function matrixRow(versions: string[], { cells }: Verdict, lacked: string[]): string {
  const found = Object.keys(COLUMNS).map((column) => cells.get(column) ?? "–");
  return `| ${[...versions, ...found, lacked.join(", ") || "–"].join(" | ")} |`;
}

/** Returns the table's head and, below the rows, the reason for each feature that a version lacks. */
export function matrixText(versions: string[], rows: string[], language: Language): string {
  const head = [...versions, ...Object.keys(COLUMNS), "left out"];
  const reasons = Object.entries(LACKS)
    .filter(([, { until }]) => language in until)
    .map(([feature, { reason }]) => `- ${feature}: ${reason}.`);
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows, "", ...reasons].join("\n");
}
