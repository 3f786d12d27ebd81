/**
 * Installs one project with each package manager and each of its layouts, serves and deploys it, and calls it with the
 * official client. Fills the table of docs/versions.md:
 *
 *     node --import tsx scripts/versions/layouts.ts [--write] [--only "npm;pnpm 10, isolated"] [--no-deploy]
 *
 * The package managers come from npm. Exits with 1 when a check fails, with 77 when the registry cannot be reached.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "langgraph-sdk-v1";

import { heddle, type Platform, startPlatform } from "../../conformance/deploy/platform.ts";
import { startProject } from "../../conformance/server.ts";
import { installPackages } from "../build/install-packages.ts";

const PAGE = fileURLToPath(new URL("../../docs/versions.md", import.meta.url));
const CHECK_MS = 60_000;
const SCHEMA_MS = 150_000;
const INSTALL_MS = 300_000;
/** Names in the directory of the package managers, and the file that each starts with. */
const MANAGERS = {
  npm: null,
  "yarn 1": ["yarn@1.22.22", "bin/yarn.js"],
  "yarn 4": ["@yarnpkg/cli-dist@4.18.1", "bin/yarn.js"],
  "pnpm 9": ["pnpm@9.15.9", "bin/pnpm.cjs"],
  "pnpm 10": ["pnpm@10.34.9", "bin/pnpm.cjs"],
} as const;
type Manager = keyof typeof MANAGERS;

interface Layout {
  manager: Manager;
  name: string;
  /** Whether the graph is in a workspace that depends on another one. */
  isWorkspace?: boolean;
  /** More files of the project: settings of the package manager. */
  files?: Record<string, string>;
  /** What `heddle dev` says where it cannot serve the layout. */
  rejected?: RegExp;
}

const node = (linker: string) => ({ ".yarnrc.yml": `nodeLinker: ${linker}\n` });
const LAYOUTS: Layout[] = [
  { manager: "npm", name: "hoisted" },
  { manager: "npm", name: "linked", files: { ".npmrc": "install-strategy=linked\n" } },
  { manager: "npm", name: "workspaces", isWorkspace: true },
  { manager: "yarn 1", name: "hoisted" },
  { manager: "yarn 1", name: "workspaces", isWorkspace: true },
  { manager: "yarn 4", name: "node-modules", files: node("node-modules") },
  { manager: "yarn 4", name: "pnpm", files: node("pnpm") },
  { manager: "yarn 4", name: "workspaces", files: node("node-modules"), isWorkspace: true },
  { manager: "yarn 4", name: "Plug'n'Play", rejected: /uses Yarn Plug'n'Play, which is not supported/ },
  { manager: "pnpm 9", name: "isolated" },
  { manager: "pnpm 10", name: "isolated" },
  { manager: "pnpm 10", name: "hoisted", files: { ".npmrc": "node-linker=hoisted\n" } },
  { manager: "pnpm 10", name: "workspaces", isWorkspace: true },
  {
    manager: "pnpm 10",
    name: "hoisted workspaces",
    files: { ".npmrc": "node-linker=hoisted\n" },
    isWorkspace: true,
  },
];

const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1]!.split(";") : null;
const deploys = !process.argv.includes("--no-deploy");
const title = ({ manager, name }: Layout) => `${manager}, ${name}`;
const wanted = LAYOUTS.filter((layout) => only === null || only.some((word) => title(layout).startsWith(word)));
if (wanted.length === 0) throw new Error(`--only: choose of ${LAYOUTS.map(title).join("; ")}`);

const home = mkdtempSync(join(tmpdir(), "heddle-layouts-"));
chmodSync(home, 0o755);
const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
/** Yarn 4 does not read npm's settings. */
const environment = {
  YARN_NPM_REGISTRY_SERVER: registry,
  YARN_UNSAFE_HTTP_WHITELIST: new URL(registry).hostname,
  YARN_ENABLE_TELEMETRY: "0",
};
const failures: string[] = [];
const rows: string[][] = [];
let platform: Platform | undefined;
try {
  const passed = [...Object.keys(environment), "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];
  Object.assign(process.env, environment, { HEDDLE_CONSOLE: "false" });
  installPackages(manifest(join(home, "managers"), managers()));
  const names = [...passed, "npm_config_registry", "npm_config_userconfig"].join(",");
  if (deploys) platform = await startPlatform({ HEDDLE_AUTH: "auto", HEDDLE_BUILD_ENV: names }, home);
  for (const layout of wanted) {
    rows.push([layout.manager, layout.name, ...(await checkLayout(layout, platform))]);
    console.error(rows.at(-1)!.join(" | "));
  }
} finally {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
}
const head = ["package manager", "layout", "served", ...(deploys ? ["deployed"] : [])];
const table = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
console.log(table);
for (const failure of failures) console.log(failure);
console.log(`${rows.flat().length - 2 * rows.length - failures.length} passed, ${failures.length} failed`);
if (process.argv.includes("--write")) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- layouts -->\n)[^]*?(<!-- end of layouts -->)/, `$1${table}\n$2`));
}
process.exitCode = failures.length === 0 ? 0 : 1;

function managers(): Record<string, string> {
  const specs = Object.values(MANAGERS).filter((spec) => spec !== null);
  return Object.fromEntries(
    specs.map(([spec]) => [spec.replaceAll(/\W/g, "-").replace(/^-/, ""), `npm:${spec}`] as const),
  );
}

/** Creates a directory with a package.json. */
function manifest(directory: string, dependencies: Record<string, string>): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, dependencies }));
  return directory;
}

function writeLayout(root: string, { manager, isWorkspace = false, files = {} }: Layout): string {
  const packages = { "@langchain/core": "1.4.0", "@langchain/langgraph": "1.7.3", zod: "4.3.6" };
  const own = { name: "agent", private: true, version: "1.0.0", type: "module" };
  const devDependencies = { typescript: "5.9.3" };
  const local = /^(?:pnpm|yarn 4)/.test(manager) ? "workspace:*" : "1.0.0";
  const graph = `import { Annotation, StateGraph } from "@langchain/langgraph";
import { z } from "zod";
import { shout } from "${isWorkspace ? "@acme/shared" : "./shared.js"}";

const State = Annotation.Root({ text: Annotation<string>, count: Annotation<number> });
export const graph = new StateGraph(State)
  .addNode("shout", ({ text }) => ({ text: shout(z.string().parse(text)), count: text.length }))
  .addEdge("__start__", "shout")
  .compile();
`;
  const shared = "export const shout = (text: string): string => `${text.toUpperCase()}!`;\n";
  const apart: Record<string, string | object> = {
    "package.json": { name: "root", private: true, workspaces: ["apps/*", "packages/*"] },
    "apps/agent/package.json": { ...own, dependencies: { ...packages, "@acme/shared": local }, devDependencies },
    "apps/agent/src/graph.ts": graph,
    "packages/shared/package.json": {
      name: "@acme/shared",
      version: "1.0.0",
      type: "module",
      exports: "./src/index.ts",
    },
    "packages/shared/src/index.ts": shared,
    ...(manager.startsWith("pnpm") && { "pnpm-workspace.yaml": "packages:\n  - apps/*\n  - packages/*\n" }),
  };
  const together = {
    "package.json": { ...own, dependencies: packages, devDependencies },
    "src/graph.ts": graph,
    "src/shared.ts": shared,
  };
  const config = isWorkspace ? "apps/agent/langgraph.json" : "langgraph.json";
  const all: Record<string, string | object> = {
    ...(isWorkspace ? apart : together),
    ...files,
    ...(manager.startsWith("yarn") && { "yarn.lock": "" }),
    [config]: { graphs: { agent: "./src/graph.ts:graph" } },
  };
  for (const [name, content] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
  return config;
}

function install(root: string, manager: Manager): void {
  const spec = MANAGERS[manager];
  if (spec === null) return installPackages(root);
  const alias = Object.entries(managers()).find(([, source]) => source === `npm:${spec[0]}`)![0];
  const program = join(home, "managers/node_modules", alias, spec[1]);
  const env = { ...process.env, YARN_ENABLE_IMMUTABLE_INSTALLS: "false", CI: "" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "install"], {
    cwd: root,
    encoding: "utf8",
    timeout: INSTALL_MS,
    env,
  });
  if (status !== 0) throw new Error(`${manager} install failed:\n${stdout}\n${stderr}`);
}

/** Returns the cells "served" and "deployed". */
async function checkLayout(layout: Layout, platform: Platform | undefined): Promise<string[]> {
  const name = title(layout).toLowerCase().replaceAll(/\W+/g, "-");
  const root = join(home, name);
  const config = writeLayout(root, layout);
  try {
    install(root, layout.manager);
  } catch (error) {
    return (platform ? ["served", "deployed"] : ["served"]).map((how) =>
      fail(`${title(layout)}, ${how}: ${(error as Error).message}`),
    );
  }
  const served = await attempt(`${title(layout)}, served`, () => serve(join(root, config), layout.rejected));
  if (!platform) return [served];
  const { control, key } = platform;
  const deployed = await attempt(`${title(layout)}, deployed`, async () => {
    const to = ["--url", control];
    const env = { HEDDLE_API_KEY: key };
    const { code, output } = await heddle(root, ["deploy", "--config", config, "--name", name, ...to], env);
    try {
      assert.equal(code, 0, output);
      await call(/^http\S+$/m.exec(output)![0], false);
    } finally {
      await heddle(root, ["deployments", "delete", name, ...to], env);
    }
    return "yes";
  });
  rmSync(root, { recursive: true, force: true });
  return [served, deployed];
}

async function serve(config: string, rejected: RegExp | undefined): Promise<string> {
  const server = await startProject(config);
  try {
    if (rejected === undefined) {
      await call(server.url, true);
      return "yes";
    }
    for (const deadline = Date.now() + CHECK_MS; !rejected.test(await server.printed());) {
      assert.ok(Date.now() < deadline, `nothing matches ${rejected} in ${await server.printed()}`);
      await new Promise((done) => setTimeout(done, 100));
    }
    const client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
    await assert.rejects(client.runs.wait(null, "agent", { input: { text: "hi" } }), rejected);
    return "rejected by name";
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await server.printed()}`, { cause: error });
  } finally {
    await server.stop();
  }
}

/** Runs the graph. `withTypes`: reads the schema too, which comes from the source by the project's own TypeScript. */
async function call(apiUrl: string, withTypes: boolean): Promise<void> {
  const client = new Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0 } });
  const { thread_id: thread } = await client.threads.create();
  assert.deepEqual(await client.runs.wait(thread, "agent", { input: { text: "hi" } }), { text: "HI!", count: 2 });
  if (!withTypes) return;
  // types come later than the first answer, when the machine is busy
  for (const deadline = Date.now() + SCHEMA_MS; ; await new Promise((done) => setTimeout(done, 500))) {
    const { state_schema: state } = await client.assistants.getSchemas("agent");
    const { properties } = state as { properties?: Record<string, { type?: string }> };
    const types = [properties?.["text"]?.type, properties?.["count"]?.type];
    if (types.join() === "string,number") return;
    assert.ok(Date.now() < deadline, `no types in ${JSON.stringify(state)}`);
  }
}

async function attempt(what: string, check: () => Promise<string>): Promise<string> {
  try {
    return await check();
  } catch (error) {
    return fail(`${what}: ${(error as Error).message}`);
  }
}

function fail(message: string): "no" {
  failures.push(message);
  console.error(message);
  return "no";
}
