/**
 * Serves and deploys the projects of `corpus/projects` with their packages from npm, and drives them with the official
 * clients:
 *
 *     node --import tsx scripts/corpus.ts [--only A,B] [--no-deploy]
 *
 * Exits with 1 when a check fails, with 77 when the registry cannot be reached.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { heddle, type Platform, startPlatform } from "../conformance/deploy/platform.ts";
import { startProject } from "../conformance/server.ts";
import { CHECKS, type Client, type Target } from "../corpus/checks.ts";
import { type ModelServer, startModelServer } from "../corpus/model-server.ts";
import { installPackages } from "./install-packages.ts";

const PROJECTS = fileURLToPath(new URL("../corpus/projects", import.meta.url));
const SDKS = ["1.15.0", "2.0.0"];
const CHECK_MS = 300_000;

type Sdk = { version: string; create(apiUrl: string, headers: Record<string, string>): Client };

const argument = (name: string) => process.argv[process.argv.indexOf(name) + 1]!;
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
  const sdks = await loadSdks();
  if (deploys) platform = await startPlatform({ HEDDLE_AUTH: "auto" }, home);
  for (const name of names) {
    rows.push([name, ...(await checkProject(name, sdks, model, platform))]);
    console.error(rows.at(-1)!.join(" "));
  }
} finally {
  await platform?.stop();
  model.close();
  rmSync(home, { recursive: true, force: true });
}
const head = [
  "project",
  ...["served", ...(deploys ? ["deployed"] : [])].flatMap((how) => SDKS.map((v) => `${how}, ${v}`)),
];
for (const row of [head, head.map(() => "---"), ...rows]) console.log(`| ${row.join(" | ")} |`);
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Installs each version of the client in a directory of its own. */
async function loadSdks(): Promise<Sdk[]> {
  const directory = join(home, "clients");
  const dependencies = Object.fromEntries(SDKS.map((v) => [`sdk-${v}`, `npm:@langchain/langgraph-sdk@${v}`]));
  mkdirSync(directory);
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  installPackages(directory);
  const require = createRequire(join(directory, "package.json"));
  return Promise.all(
    SDKS.map(async (version) => {
      const module = (await import(pathToFileURL(require.resolve(`sdk-${version}`)).href)) as {
        Client: new (options: object) => Client;
      };
      const create = (apiUrl: string, defaultHeaders: Record<string, string>) =>
        new module.Client({ apiUrl, defaultHeaders, apiKey: null, callerOptions: { maxRetries: 0 } });
      return { version, create };
    }),
  );
}

/** Returns a cell for each way of serving the project, and each client. */
async function checkProject(name: string, sdks: Sdk[], model: ModelServer, platform?: Platform): Promise<string[]> {
  const root = join(home, name);
  cpSync(join(PROJECTS, name), root, { recursive: true });
  const config = ["langgraph.json", "apps/agent/langgraph.json"].find((path) => existsSync(join(root, path)))!;
  const environment = Object.entries(model.environment).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(join(root, config.replace("langgraph.json", ".env")), environment.join(""));
  const cells: string[] = [];
  try {
    installPackages(root);
    const server = await startProject(join(root, config));
    try {
      for (const sdk of sdks) cells.push(await checkAt(server.url, name, "served", sdk));
      if (cells.includes("FAILED") && process.env["HEDDLE_CORPUS_LOG"]) console.log(await server.printed());
    } finally {
      await server.stop();
    }
  } catch (error) {
    while (cells.length < sdks.length) cells.push(fail(`${name}, served: ${(error as Error).message}`));
  }
  if (!platform) return cells;
  const to = ["--url", platform.control];
  const env = { HEDDLE_API_KEY: platform.key };
  const { code, output } = await heddle(root, ["deploy", "--config", config, "--name", name, ...to], env);
  if (code !== 0) return [...cells, ...sdks.map(() => fail(`${name}, deployed: ${output}`))];
  const url = /^http\S+$/m.exec(output)![0];
  for (const sdk of sdks) cells.push(await checkAt(url, name, "deployed", sdk));
  if (cells.includes("FAILED") && process.env["HEDDLE_CORPUS_LOG"]) {
    console.log((await heddle(root, ["logs", name, ...to], env)).output);
  }
  const deletion = await heddle(root, ["deployments", "delete", name, ...to], env);
  if (deletion.code !== 0) fail(`${name}, deletion: ${deletion.output}`);
  return cells;
}

async function checkAt(url: string, name: string, how: string, sdk: Sdk): Promise<string> {
  const target: Target = { url, connect: (headers = {}) => sdk.create(url, headers) };
  try {
    await within(CHECKS[name]!(target.connect(), target));
    passed += 1;
    return "ok";
  } catch (error) {
    return fail(`${name}, ${how}, ${sdk.version}: ${(error as Error).stack}`);
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
