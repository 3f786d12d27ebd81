/**
 * Serves and deploys the projects of `corpus/projects`, or with `--language python` those of `corpus/python-projects`,
 * with their packages from the registry, and drives them with the official clients:
 *
 *     node --import tsx scripts/versions/corpus.ts [--language python] [--only A,B] [--no-deploy]
 *
 * Exits with 1 when a check fails, with 77 when the registry cannot be reached.
 */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { heddle, type Platform, startPlatform } from "../../conformance/deploy/platform.ts";
import { startProject } from "../../conformance/server.ts";
import { CHECKS, type Client, type Target } from "../../corpus/checks.ts";
import { type ModelServer, startModelServer } from "../../corpus/model-server.ts";
import { PYTHON_CHECKS } from "../../corpus/python-checks.ts";
import { installPackages } from "../build/install-packages.ts";
import { createEnvironment, installUv, runInstaller } from "../services/python-environments.ts";

const CHECK_MS = 300_000;
/** Version of the Python client. */
const PYTHON_SDK = "py-0.4.14";
/** Version of the Python command-line client, with which each Python project is deployed too. */
const PYTHON_CLI = "0.4.40";
const CONFIGS = ["langgraph.json", "apps/agent/langgraph.json"];

/** A version of an official client. */
interface Driver {
  name: string;
  check(url: string, project: string): Promise<void>;
}

const argument = (name: string) => process.argv[process.argv.indexOf(name) + 1]!;
const isPython = process.argv.includes("--language") && argument("--language") === "python";
const PROJECTS = fileURLToPath(new URL(`../../corpus/${isPython ? "python-projects" : "projects"}`, import.meta.url));
const SDKS = isPython ? ["2.0.0"] : ["1.15.0", "2.0.0"];
const checks = isPython ? PYTHON_CHECKS : CHECKS;
const only = process.argv.includes("--only") ? argument("--only").split(",") : null;
const names = readdirSync(PROJECTS).filter((name) => only === null || only.includes(name));
if (names.length === 0) throw new Error(`--only: choose of ${readdirSync(PROJECTS).join(", ")}`);
const deploys = !process.argv.includes("--no-deploy");

const home = mkdtempSync(join(tmpdir(), "heddle-corpus-"));
chmodSync(home, 0o755);
let passed = 0;
const failures: string[] = [];
const rows: string[][] = [];
const model = await startModelServer();
let platform: Platform | undefined;
try {
  Object.assign(process.env, { HEDDLE_CONSOLE: "false" });
  // each project has its own environment
  delete process.env["HEDDLE_PYTHON"];
  const drivers = await loadSdks();
  if (isPython) drivers.push(pythonDriver());
  const officialCli = isPython && deploys ? installCli() : undefined;
  if (deploys) platform = await startPlatform({ HEDDLE_AUTH: "auto", ...(isPython && uvForBuilds()) }, home);
  for (const name of names) {
    rows.push([name, ...(await checkProject(name, drivers, model, platform, officialCli))]);
    console.error(rows.at(-1)!.join(" "));
  }
} finally {
  await platform?.stop();
  model.close();
  rmSync(home, { recursive: true, force: true });
}
const head = [
  "project",
  ...["served", ...(deploys ? ["deployed"] : [])].flatMap((how) =>
    [...SDKS, ...(isPython ? [PYTHON_SDK] : [])].map((v) => `${how}, ${v}`),
  ),
  ...(isPython && deploys ? [`deployed with langgraph-cli ${PYTHON_CLI}`] : []),
];
for (const row of [head, head.map(() => "---"), ...rows]) console.log(`| ${row.join(" | ")} |`);
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Installs each version of the client in its own directory. */
async function loadSdks(): Promise<Driver[]> {
  const directory = join(home, "clients");
  const dependencies = Object.fromEntries(SDKS.map((v) => [`sdk-${v}`, `npm:@langchain/langgraph-sdk@${v}`]));
  mkdirSync(directory);
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  installPackages(directory);
  const require = createRequire(join(directory, "package.json"));
  return Promise.all(
    SDKS.map(async (name) => {
      const module = (await import(pathToFileURL(require.resolve(`sdk-${name}`)).href)) as {
        Client: new (options: object) => Client;
      };
      const create = (apiUrl: string, defaultHeaders: Record<string, string>) =>
        new module.Client({ apiUrl, defaultHeaders, apiKey: null, callerOptions: { maxRetries: 0 } });
      const check = (url: string, project: string) => {
        const target: Target = { url, connect: (headers = {}) => create(url, headers) };
        return checks[project]!(target.connect(), target);
      };
      return { name, check };
    }),
  );
}

/** The official Python client in its own environment, which runs corpus/drive.py. */
function pythonDriver(): Driver {
  const python = createEnvironment(join(home, "python-client"), "python3", [`langgraph-sdk==${PYTHON_SDK.slice(3)}`]);
  const script = fileURLToPath(new URL("../../corpus/drive.py", import.meta.url));
  const check = (url: string, project: string) =>
    new Promise<void>((done, fail) => {
      execFile(python, [script, url, project], { timeout: CHECK_MS }, (error, _, stderr) => {
        if (error) fail(new Error(stderr || error.message));
        else done();
      });
    });
  return { name: PYTHON_SDK, check };
}

/** Installs the official Python command-line client. @returns its program */
function installCli(): string {
  createEnvironment(join(home, "python-cli"), "python3", [`langgraph-cli==${PYTHON_CLI}`]);
  return join(home, "python-cli", "bin", "langgraph");
}

/** Deploys a project's next revision with the official client, which sends the directory of langgraph.json alone. */
async function checkOfficialCli(
  cli: string,
  root: string,
  config: string,
  name: string,
  { control, key }: Platform,
  url: string,
  driver: Driver,
): Promise<string> {
  if (config !== "langgraph.json") return "sends no workspace";
  const args = ["deploy", "--remote", "--no-input", "--name", name, "--host-url", control, "--api-key", key];
  const printed = await new Promise<string>((done) => {
    const env = { ...process.env, LANGGRAPH_CLI_NO_ANALYTICS: "1" };
    execFile(cli, args, { cwd: root, timeout: CHECK_MS, env }, (error, stdout, stderr) =>
      done(error ? stdout + stderr : ""),
    );
  });
  if (printed !== "") return fail(`${name}, langgraph-cli: ${printed}`);
  return checkAt(url, name, "deployed with langgraph-cli", driver);
}

/** Settings with which builds find uv, so that they use it except where a project chooses pip. */
function uvForBuilds(): Record<string, string> {
  const uv = installUv("python3");
  if (uv === undefined) return {};
  const bin = join(home, "bin");
  mkdirSync(bin);
  cpSync(uv, join(bin, "uv"));
  return { PATH: `${bin}:${process.env["PATH"]}`, HEDDLE_PROCESS_READABLE: bin };
}

/** Installs a project's packages as its developer does. */
function installProject(root: string, config: string): void {
  if (existsSync(join(root, "package.json"))) installPackages(root);
  if (!isPython) return;
  if (config !== "langgraph.json") {
    // the lock names the index that it was made with, so the corpus has none
    const uv = installUv("python3");
    if (uv === undefined) throw new Error("uv cannot be installed");
    runInstaller(uv, ["lock", "--quiet"], root);
    return runInstaller(uv, ["sync", "--quiet", "--all-packages"], root);
  }
  const what = existsSync(join(root, "requirements.txt")) ? ["-r", join(root, "requirements.txt")] : ["-e", root];
  createEnvironment(join(root, ".venv"), "python3", what);
}

/** Returns a cell for each way of serving the project, and each client. */
async function checkProject(
  name: string,
  drivers: Driver[],
  model: ModelServer,
  platform?: Platform,
  officialCli?: string,
): Promise<string[]> {
  const root = join(home, name);
  cpSync(join(PROJECTS, name), root, { recursive: true });
  const config = CONFIGS.find((path) => existsSync(join(root, path)))!;
  const environment = Object.entries(model.environment).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(join(root, config.replace("langgraph.json", ".env")), environment.join(""));
  const cells: string[] = [];
  try {
    installProject(root, config);
    const server = await startProject(join(root, config));
    try {
      for (const driver of drivers) cells.push(await checkAt(server.url, name, "served", driver));
      if (cells.includes("FAILED") && process.env["HEDDLE_CORPUS_LOG"]) console.log(await server.printed());
    } finally {
      await server.stop();
    }
  } catch (error) {
    while (cells.length < drivers.length) cells.push(fail(`${name}, served: ${(error as Error).message}`));
  }
  if (!platform) return cells;
  const to = ["--url", platform.control];
  const env = { HEDDLE_API_KEY: platform.key };
  const { code, output } = await heddle(root, ["deploy", "--config", config, "--name", name, ...to], env);
  if (code !== 0) return [...cells, ...drivers.map(() => fail(`${name}, deployed: ${output}`))];
  const url = /^http\S+$/m.exec(output)![0];
  for (const driver of drivers) cells.push(await checkAt(url, name, "deployed", driver));
  if (cells.includes("FAILED") && process.env["HEDDLE_CORPUS_LOG"]) {
    console.log((await heddle(root, ["logs", name, ...to], env)).output);
  }
  if (officialCli) cells.push(await checkOfficialCli(officialCli, root, config, name, platform, url, drivers[0]!));
  const deletion = await heddle(root, ["deployments", "delete", name, ...to], env);
  if (deletion.code !== 0) fail(`${name}, deletion: ${deletion.output}`);
  return cells;
}

async function checkAt(url: string, name: string, how: string, driver: Driver): Promise<string> {
  try {
    await within(driver.check(url, name));
    passed += 1;
    return "ok";
  } catch (error) {
    return fail(`${name}, ${how}, ${driver.name}: ${(error as Error).stack}`);
  }
}

function fail(message: string): "FAILED" {
  console.error(message);
  failures.push(message);
  return "FAILED";
}

async function within(check: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result after ${CHECK_MS / 1000} s`)), CHECK_MS);
  });
  await Promise.race([check, limit]).finally(() => clearTimeout(timer));
}
