/**
 * Runs the official LangSmith clients, unmodified, one of each minor line, against two trace platforms: one that
 * requires keys and one that does not, each by its URL with and without `/api/v1`. Fills the table of docs/versions.md:
 *
 *     node --import tsx scripts/versions/langsmith-clients.ts [--write] [--only npm-0.12.0,pypi-0.15.1]
 *
 * The checks are in conformance/langsmith. Packages are installed into `~/.cache/heddle`. A client that lacks a part
 * passes without it. Exits with 1 when a check fails, with 77 when no client can be installed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { startLockedTraces, startTraces } from "../../conformance/server.ts";
import { type Check, type Client, installClient, type Registry, runProgram, SKIPPED } from "./client-programs.ts";

const VERSIONS = {
  npm: ["0.9.0", "0.10.11", "0.11.8", "0.12.0"],
  // 0.14.10 and all before it send the key twice
  pypi: ["0.10.18", "0.11.2", "0.12.6", "0.13.0", "0.14.10", "0.14.17", "0.15.1"],
};
const PAGE = fileURLToPath(new URL("../../docs/versions.md", import.meta.url));
const clients = (Object.keys(VERSIONS) as Registry[]).flatMap((registry) =>
  VERSIONS[registry].map((version): Client => ({
    registry,
    name: `${registry}-${version}`,
    packages: registry === "npm" ? [`langsmith@${version}`] : [`langsmith==${version}`, "zstandard"],
  })),
);
const only = process.argv.includes("--only")
  ? new Set(process.argv[process.argv.indexOf("--only") + 1]!.split(","))
  : undefined;
const selected = clients.filter(({ name }) => only?.has(name) ?? true);
if (selected.length === 0) throw new Error(`--only: choose of ${clients.map(({ name }) => name).join(", ")}`);

const installed = selected.filter((client) => installClient(client));
if (installed.length === 0) {
  console.log("clients: skipped, because no client can be installed");
  process.exit(SKIPPED);
}

const open = await startTraces();
const locked = await startLockedTraces({ HEDDLE_OUTBOUND_ALLOW: "127.0.0.1" });
const platforms = [
  { url: open.url, key: "none" },
  { url: locked.url, key: locked.key },
];
let failures = selected.length - installed.length;
const table = new Map<string, Check[]>();
try {
  for (const client of installed) {
    const places = platforms.flatMap(({ url, key }) =>
      ["", "/api/v1"].map((path) => ({ endpoint: `${url}${path}`, key, keys: key !== "none" })),
    );
    const started = performance.now();
    const runs = await Promise.all(places.map((place) => run(client, place)));
    const lines = runs.flatMap((checks, i) =>
      checks
        .filter(({ error }) => error !== null)
        .map(
          ({ name, error }) => `  ${name}, ${places[i]!.keys ? "keys" : "no keys"}, ${places[i]!.endpoint}: ${error}`,
        ),
    );
    failures += lines.length;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`${client.name}: ${lines.length === 0 ? "ok" : `${lines.length} failed`} (${seconds} s)`);
    for (const line of lines) console.log(line);
    table.set(client.name, merge(runs));
  }
} finally {
  await Promise.all([open.stop(), locked.stop()]);
}
if (process.argv.includes("--write")) writeTable();
process.exitCode = failures === 0 ? 0 : 1;

/** Runs all checks with a client. Output that is not a result counts as a failure. */
async function run(client: Client, { endpoint, key }: { endpoint: string; key: string }): Promise<Check[]> {
  const env = { LANGSMITH_ENDPOINT: endpoint, LANGSMITH_API_KEY: key };
  const programs = { npm: "javascript.mjs", pypi: "python.py" };
  const { lines: checks, errors } = await runProgram<Check>(client, programs, { env });
  if (checks.length === 0) return [{ name: "start", error: errors.slice(-2000), absent: false }];
  const unknown = errors.split("\n").filter((line) => /warn/i.test(line) && !/deprecat/i.test(line));
  const warnings = checks.at(-1)!;
  if (unknown.length > 0) warnings.error = `${warnings.error ?? ""}\n${unknown.join("\n")}`;
  return checks;
}

/** A check passes if it passed everywhere. */
function merge(runs: Check[][]): Check[] {
  return runs[0]!.map((check, i) => ({
    ...check,
    error: runs.map((checks) => checks[i]?.error).find((error) => error !== null) ?? null,
  }));
}

/** Replaces the table between the page's markers. */
function writeTable(): void {
  // the programs do not have the same checks
  const names = [...new Set([...table.values()].flatMap((checks) => checks.map(({ name }) => name)))].toSorted(
    (a, b) => Number(a === "warnings") - Number(b === "warnings"),
  );
  const head = ["client", ...names.map((name) => (name === "warnings" ? "no warnings" : name))];
  const cell = (check: Check | undefined) => (!check || check.absent ? "–" : check.error === null ? "yes" : "no");
  const rows = Array.from(
    table,
    ([name, checks]) =>
      `| ${[name.replace("-", " "), ...names.map((each) => cell(checks.find((check) => check.name === each)))].join(" | ")} |`,
  );
  const text = [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n");
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- clients -->\n)[^]*?(<!-- end of clients -->)/, `$1${text}\n$2`));
}
