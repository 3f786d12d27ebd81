// The continuous integration run: static checks, then each test suite in a separate process, then the totals. Counts
// come from vitest's own report; a suite without a report counts as one failure. A failed file whose tests depend on
// the machine's speed is run once more, alone, and named in the totals; tests of data loss are never retried.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { readErrors, readReport, slowest, sum, withErrors, withSecondTry } from "./ci-report.mjs";
import { compileSources } from "../build/compile-sources.mjs";
import { countLines, describeLines } from "./count-lines.mjs";
import { trackedFiles } from "./tracked-files.mjs";
import { buildS3Server } from "../services/s3-server.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { only, all } = parseArgs({ options: { only: { type: "string" }, all: { type: "boolean" } } }).values;
/** Whether a suite or program is among those named, or else is not one of those that only `--all` runs. */
const isWanted = ({ name, isLong }) => (only === undefined ? all || !isLong : only.split(",").includes(name));
const reports = mkdtempSync(join(tmpdir(), "heddle-ci-"));
const vitest = (report, ...args) => [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--reporter=default",
  "--reporter=json",
  "--reporter=./scripts/check/ci-errors-reporter.mjs",
  `--outputFile.json=${report}`,
  ...args,
];

const always = () => true;
/** Excludes files with random search: a counterexample is a failure, however rarely it is found. */
const noSearch = (file) => !readFileSync(file, "utf8").includes('from "fast-check"');
// kills at random moments: fifty instead of 25
if (all) process.env["HEDDLE_CRASH_ROUNDS"] ??= "2";
/** Files that take minutes, for `--all`: every page at three widths, and real builds. */
const without = (...names) => (all ? [] : names.flatMap((name) => ["--exclude", `**/${name}.test.ts`]));
const longPages = without("routes.browser", "deployments.browser", "settings.browser");
const longImages = without("deploy-image.podman", "containers.podman");
/**
 * The suites in order; a list of them runs side by side, as one leaves cores idle.
 * `paced`: whether a failure in the file may be due to the machine's speed.
 */
const suites = [
  { name: "tests", args: (report) => ["scripts/check/test.mjs", ...vitest(report).slice(2)], paced: noSearch },
  { name: "slow", args: (report) => vitest(report, "--project", "slow"), paced: noSearch },
  [
    {
      name: "services",
      args: (report) => vitest(report, "--project", "services", ...longImages, ...withoutS3Server),
      paced: always,
    },
    { name: "package", args: (report) => vitest(report, "--project", "package"), paced: always },
  ],
  { name: "conformance", args: (report) => vitest(report, "--config", "conformance/vitest.config.ts"), paced: always },
  { name: "security", args: (report) => vitest(report, "--project", "security") },
  { name: "console", args: (report) => vitest(report, "--project", "console", ...longPages), paced: always },
  {
    name: "long",
    isLong: true,
    args: (report) => vitest(report, "--project", "long"),
    paced: (file) => noSearch(file) && !file.includes("/test/crash/"),
  },
];
/** Its processes are often waited for, so it runs beside the programs. */
const crash = {
  name: "crash",
  args: (report) => vitest(report, "--project", "crash"),
  // the file with time limits in seconds
  paced: (file) => file.endsWith("/recovery.crash.test.ts"),
};

/**
 * The project's own programs that report their result by exit code. `isLong`: for `--all`, before a release. `installs`:
 * it installs packages from registries, which may fail for a moment, so that it is tried twice.
 */
const programChecks = [
  { name: "python", args: ["--import", "tsx", "scripts/versions/python-client.ts"] },
  {
    name: "clients",
    args: ["--import", "tsx", "scripts/versions/langsmith-clients.ts", "--only", "pypi-0.15.1"],
  },
  {
    name: "older-clients",
    isLong: true,
    args: ["--import", "tsx", "scripts/versions/langsmith-clients.ts", "--only", "npm-0.12.0,pypi-0.14.10"],
  },
  { name: "prompts", isLong: true, args: ["--import", "tsx", "scripts/versions/prompt-clients.ts"] },
  // that of two languages needs Python: scripts/services/python-suite.ts
  {
    name: "examples",
    args: [
      ...["--import", "tsx", "scripts/check/tutorials.ts", "--linked", "--jobs", "2"],
      ...["support-bot", "research-agent", "nightly-batch", "evaluated-prompt"].map(
        (name) => `examples/${name}/README.md`,
      ),
    ],
  },
  { name: "tutorials", installs: true, args: ["--import", "tsx", "scripts/check/tutorials.ts"] },
  { name: "machines", isLong: true, args: ["--import", "tsx", "scripts/versions/machine-clients.ts"] },
  {
    name: "versions",
    isLong: true,
    args: ["--import", "tsx", "scripts/versions/langgraph-versions.ts", "--only", "0.2.57"],
  },
  // a program for each step, so that the end of its output says what failed
  ...["ruff", "pyright", "pytest", "server", "conformance", "example"].map((step) => ({
    name: `python-${step}`,
    installs: step === "pyright" || step === "server",
    args: ["--import", "tsx", "scripts/services/python-suite.ts", step, ...(all ? ["--all"] : [])],
  })),
  { name: "audit", args: ["scripts/check/audit.mjs"] },
  { name: "newest", args: ["--import", "tsx", "scripts/check/newest-packages.ts"] },
  // it mostly waits, and its laws hold at any speed
  {
    name: "chaos",
    isLong: true,
    args: ["--import", "tsx", "test/chaos/main.ts", "--minutes", "2", "--seed", "14", "--flow"],
  },
];
const SKIPPED = 77;

/** Programs that suites need besides Node, by the Debian packages that contain them. Missing ones are installed. */
const programs = {
  "redis-server": "redis-server",
  pgbouncer: "pgbouncer",
  go: "golang-go",
  "chromium-headless-shell": "chromium-headless-shell",
  podman: "podman netavark iptables",
  runc: "runc",
  bwrap: "bubblewrap",
  faketime: "faketime libfaketime",
  nginx: "nginx-light",
  promtool: "prometheus",
};

function installPrograms() {
  const isMissing = (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).error !== undefined;
  const packages = Object.entries(programs).flatMap(([program, names]) => (isMissing(program) ? names.split(" ") : []));
  if (packages.length === 0) return;
  console.log(`installing ${packages.join(" ")}`);
  // Debian starts a service on installation; tests start their own on another port
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  for (const args of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", ...packages],
  ]) {
    spawnSync("apt-get", args, { env, stdio: ["ignore", "ignore", "inherit"] });
  }
}

/** Memory that must be free for the tests' files: they leave some hundred MB, and servers of several suites need 4 GB. */
const MIN_FREE_BYTES = 10 * 1024 ** 3;

/**
 * Keeps the temporary files of all suites in memory where root may mount that: their databases wait for no disk, and
 * tests take a fifth less of a processor. Returns what removes them.
 */
function keepFilesInMemory() {
  if (freemem() < MIN_FREE_BYTES) return () => {};
  const directory = mkdtempSync(join(tmpdir(), "heddle-ci-"));
  const size = Math.floor(freemem() / 2);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=1777`, "heddle-ci", directory]);
  if (mounted.status !== 0) return () => rmSync(directory, { recursive: true });
  // Postgres and graphs run as other users
  chmodSync(directory, 0o1777);
  process.env["TMPDIR"] = directory;
  return () => {
    spawnSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true, force: true });
  };
}

/** Time limit of a suite; the slowest takes half of it on two busy cores. */
const SUITE_MS = 45 * 60_000;

/** Time in which the last output of an ended program is read. */
const LAST_OUTPUT_MS = 1_000;

/**
 * Runs one program in a separate process group, which is killed as a whole when it takes too long.
 *
 * @param onOutput  gets the output, which is printed in either case
 */
function run(args, { env = {}, onOutput } = {}) {
  return new Promise((resolve) => {
    const output = onOutput ? "pipe" : "inherit";
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", output, output],
      detached: true,
    });
    for (const name of onOutput ? ["stdout", "stderr"] : []) {
      child[name].setEncoding("utf8").on("data", (text) => (process[name].write(text), onOutput(text)));
    }
    const end = (signal) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // it has already exited
      }
    };
    const hung = setTimeout(() => {
      console.error(`ended after ${SUITE_MS / 60_000} minutes: it hangs`);
      end("SIGTERM");
      setTimeout(() => end("SIGKILL"), 10_000).unref();
    }, SUITE_MS);
    const interrupted = () => (end("SIGKILL"), process.exit(130));
    process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
    const settle = (code) => {
      clearTimeout(hung);
      process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
      resolve(code);
    };
    child.on("error", () => settle(1));
    child.on("exit", () => {
      end("SIGKILL"); // kills leftover processes of its group
      // those of other groups, which keep the output open, must not block the others
      setTimeout(() => (child.stdout?.destroy(), child.stderr?.destroy()), LAST_OUTPUT_MS).unref();
    });
    // the last output is read
    child.on("close", (code) => settle(code ?? 1));
  });
}

const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
const notes = [];
function count(name, { seconds, busy }, { passed, failed, skipped, longest }) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  const cost = `${seconds.toFixed(0)} s, ${Math.round(busy * 100)} % of ${cpus().length} cores`;
  lines.push(`${name.padEnd(12)} ${passed} passed, ${failed} failed, ${skipped} skipped (${cost})`);
  if (longest) lines.push(`${"".padEnd(12)} longest: ${longest}`);
}

/** Sums the time of all cores since the machine's start, in milliseconds. */
function coreTimes() {
  const times = cpus().map(({ times }) => times);
  const sum = (pick) => times.reduce((total, each) => total + pick(each), 0);
  return { idle: sum(({ idle }) => idle), all: sum((each) => Object.values(each).reduce((a, b) => a + b)) };
}

/** Runs the work. `busy`: the share of the machine's cores that was in use meanwhile, by anything. */
async function timed(work) {
  const started = Date.now();
  const before = coreTimes();
  const result = await work();
  const after = coreTimes();
  const busy = 1 - (after.idle - before.idle) / (after.all - before.all);
  return { result, cost: { seconds: (Date.now() - started) / 1000, busy } };
}

/**
 * Number of failed files above which there is a common cause other than the machine's speed, so that none is retried.
 */
const MAX_SECOND_TRIES = 6;

/** Runs a suite, or some files of it. `results` is undefined without a report, `strays` are errors of no known file. */
async function runVitest(args, label) {
  const report = join(reports, `${label}.json`);
  const errorsFile = join(reports, `${label}-errors.json`);
  const code = await run(args(report), { env: { HEDDLE_CI_ERRORS: errorsFile } });
  const files = readReport(report);
  const errors = readErrors(errorsFile);
  const strays = errors.filter(({ file }) => !files?.some((result) => result.file === file));
  return { code, results: files && withErrors(files, errors), strays: strays.map(({ message }) => message) };
}

async function runSuite({ name, args, paced = () => false }) {
  const first = await runVitest(args, name);
  const { strays } = first;
  let { code, results } = first;
  if (!results) {
    console.error(`${name}: vitest wrote no report`);
    notes.push(`FAILED ${name}: vitest wrote no report`, ...strays);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const again = results.filter(({ file, isFailed }) => isFailed && paced(file));
  if (again.length > 0 && again.length <= MAX_SECOND_TRIES) {
    for (const { file, failures } of again) noteFailures("SECOND TRY", name, file, failures);
    const files = again.map(({ file }) => file);
    const second = await runVitest((report) => [...args(report), ...files], `${name}-second`);
    results = withSecondTry(results, second.results ?? []);
    strays.push(...second.strays);
    if (strays.length === 0 && !results.some(({ isFailed }) => isFailed)) code = second.code;
  }
  for (const { file, failures } of results) noteFailures("FAILED", name, file, failures);
  const counts = { ...sum(results), longest: slowest(results) };
  // a leak or an error outside of all tests fails the run without failing a test; a run without tests is not a success
  const isSilent = counts.failed === 0 && (code !== 0 || counts.passed === 0);
  if (!isSilent) return counts;
  const reasons = strays.length > 0 ? strays : [`exit code ${code} with ${counts.passed} passed tests: see its output`];
  notes.push(...reasons.map((reason) => `FAILED ${name} outside of its tests: ${reason}`));
  return { ...counts, failed: 1 };
}

/** Lists the failures again, shortened. */
function noteFailures(what, suite, file, failures) {
  notes.push(...failures.map((failure) => `${what} ${suite} ${file.slice(root.length)} ${failure}`.slice(0, 600)));
}

if (isWanted({ name: "check" })) {
  const { result: code, cost } = await timed(() => run(["scripts/check/check-all.mjs"]));
  count("check", cost, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 });
}
installPrograms();
const removeFiles = keepFilesInMemory();
process.once("exit", removeFiles);
// servers that suites start take half of the time
process.env["HEDDLE_COMPILED_SOURCES"] = await compileSources(root);
// without Go or its modules, the tests that need that server are skipped, and counted as skipped
const withoutS3Server = buildS3Server() ? [] : ["--exclude", "test/s3/*.s3.test.ts"];
if (withoutS3Server.length > 0) count("s3-policies", { seconds: 0, busy: 0 }, { passed: 0, failed: 0, skipped: 1 });
async function measureSuite(suite) {
  console.log(`\n== ${suite.name}`);
  const { result, cost } = await timed(() => runSuite(suite));
  count(suite.name, cost, result);
}
for (const suite of suites) await Promise.all([suite].flat().filter(isWanted).map(measureSuite));
/** Characters of a failed program's output that are printed again at the end. */
const MAX_END_LENGTH = 1_500;

async function runPrograms(programs) {
  for (const { name, args, installs = false } of programs) {
    console.log(`\n== ${name}`);
    let end = "";
    const onOutput = (text) => (end = (end + text).slice(-MAX_END_LENGTH));
    const isFailure = (code) => code !== 0 && code !== SKIPPED;
    const { result: code, cost } = await timed(async () => {
      const first = await run(args, { onOutput });
      if (!isFailure(first) || !installs) return first;
      notes.push(`SECOND TRY ${name}, whose output ended with:`, end.trim());
      return run(args, { onOutput });
    });
    if (isFailure(code)) notes.push(`FAILED ${name}, whose output ends with:`, end.trim());
    count(name, cost, {
      passed: code === 0 ? 1 : 0,
      failed: isFailure(code) ? 1 : 0,
      skipped: code === SKIPPED ? 1 : 0,
    });
  }
}
await Promise.all([...[crash].filter(isWanted).map(measureSuite), runPrograms(programChecks.filter(isWanted))]);
rmSync(reports, { recursive: true, force: true });

lines.push(describeLines(countLines(root, trackedFiles(root))));
// failures last, for readers who see only the end of the output
console.log(`\n${[...lines, ...notes].join("\n")}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
