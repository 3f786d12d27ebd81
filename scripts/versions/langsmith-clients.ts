/**
 * Runs the official LangSmith clients, unmodified, one of each minor line, against two trace platforms: one that
 * requires keys and one that does not, each by its URL with and without `/api/v1`. Fills the table of docs/versions.md:
 *
 *     node --import tsx scripts/versions/langsmith-clients.ts [--write] [--only npm-0.12.0,pypi-0.15.1]
 *
 * The checks are in conformance/langsmith. Packages are installed into `~/.cache/heddle`. A client that lacks a part
 * passes without it. Exits with 1 when a check fails, with 77 when no client can be installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startLockedTraces, startTraces } from "../../conformance/server.ts";

const VERSIONS = {
  npm: ["0.9.0", "0.10.11", "0.11.8", "0.12.0"],
  // 0.14.10 and all before it send the key twice
  pypi: ["0.10.18", "0.11.2", "0.12.6", "0.13.0", "0.14.10", "0.14.17", "0.15.1"],
};
const CHECKS = fileURLToPath(new URL("../../conformance/langsmith", import.meta.url));
const PAGE = fileURLToPath(new URL("../../docs/versions.md", import.meta.url));
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "heddle", "langsmith-clients");
const SKIPPED = 77;
const RUN_MS = 240_000;

type Registry = keyof typeof VERSIONS;
interface Check {
  name: string;
  error: string | null;
  absent: boolean;
}

const clients = (Object.keys(VERSIONS) as Registry[]).flatMap((registry) =>
  VERSIONS[registry].map((version) => ({ registry, version, name: `${registry}-${version}` })),
);
const only = process.argv.includes("--only")
  ? new Set(process.argv[process.argv.indexOf("--only") + 1]!.split(","))
  : undefined;
const selected = clients.filter(({ name }) => only?.has(name) ?? true);
if (selected.length === 0) throw new Error(`--only: choose of ${clients.map(({ name }) => name).join(", ")}`);

const installed = selected.filter((client) => install(client));
if (installed.length === 0) {
  console.log("clients: skipped, because no client can be installed");
  process.exit(SKIPPED);
}

const open = await startTraces();
const locked = await startLockedTraces();
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

/** Returns whether the client is in the cache, after installing it if it was not. */
function install({ registry, version, name }: (typeof clients)[number]): boolean {
  const directory = join(CACHE, name);
  const isComplete = join(directory, "complete");
  if (existsSync(isComplete)) return true;
  mkdirSync(directory, { recursive: true });
  const steps: [string, string[]][] =
    registry === "npm"
      ? [["npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact", `langsmith@${version}`]]]
      : [
          ["python3", ["-m", "venv", "--clear", directory]],
          [
            join(directory, "bin", "pip"),
            ["install", "--quiet", "--disable-pip-version-check", `langsmith==${version}`, "zstandard"],
          ],
        ];
  if (registry === "npm") writeFileSync(join(directory, "package.json"), '{"private":true,"type":"module"}\n');
  for (const [command, args] of steps) {
    const { status, stderr } = spawnSync(command, args, { cwd: directory, encoding: "utf8", timeout: RUN_MS });
    if (status === 0) continue;
    console.error(`${name} cannot be installed:\n${stderr?.slice(-1000)}`);
    return false;
  }
  writeFileSync(isComplete, "");
  return true;
}

/** Runs all checks with a client. Output that is not a result counts as a failure. */
async function run(
  { registry, name }: (typeof clients)[number],
  { endpoint, key }: { endpoint: string; key: string },
): Promise<Check[]> {
  const cwd = join(CACHE, name);
  const [command, ...args] =
    registry === "npm"
      ? [process.execPath, join(CHECKS, "javascript.mjs")]
      : [join(cwd, "bin", "python"), join(CHECKS, "python.py")];
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd, LANGSMITH_ENDPOINT: endpoint, LANGSMITH_API_KEY: key };
  const child = spawn(command!, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: RUN_MS });
  const [out, errors] = [child.stdout, child.stderr].map((stream) => {
    const text = { all: "" };
    stream.setEncoding("utf8").on("data", (chunk: string) => void (text.all += chunk));
    return text;
  }) as [{ all: string }, { all: string }];
  await new Promise((done) => child.once("close", done));
  const checks = out.all
    .split("\n")
    .filter((line) => line.startsWith('{"name"'))
    .map((line) => JSON.parse(line) as Check);
  if (checks.length === 0) return [{ name: "start", error: errors.all.slice(-2000), absent: false }];
  const unknown = errors.all.split("\n").filter((line) => /warn/i.test(line) && !/deprecat/i.test(line));
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
  const names = table
    .values()
    .next()
    .value!.map(({ name }) => name);
  const head = ["client", ...names.map((name) => (name === "warnings" ? "no warnings" : name))];
  const cell = ({ error, absent }: Check) => (absent ? "–" : error === null ? "yes" : "no");
  const rows = Array.from(
    table,
    ([name, checks]) => `| ${[name.replace("-", " "), ...checks.map(cell)].join(" | ")} |`,
  );
  const text = [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n");
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- clients -->\n)[^]*?(<!-- end of clients -->)/, `$1${text}\n$2`));
}
