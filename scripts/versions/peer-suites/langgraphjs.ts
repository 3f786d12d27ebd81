import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { startProject } from "../../../conformance/server.ts";
import { installPackages } from "../../build/install-packages.ts";
import { edit, readJestReport, runTests, type Suite, type TestResult, writeManifest } from "./suite.ts";

const SERVER = { HEDDLE_INTERNAL_TRUNCATE: "true", HEDDLE_CONSOLE: "false", LANGSMITH_TRACING: "false" };
const WITHOUT_BROWSERS = ["webdriverio", "@vitest/browser-webdriverio"];

/** A test file of LangGraph.js's own server, with the server's address replaced by Heddle's. */
const apiSuite = (
  name: string,
  file: string,
  config: string,
  prepare: (directory: string, url: string) => void,
): Suite => ({
  name,
  async run({ checkout, directory }) {
    const source = join(checkout, "libs/langgraph-api");
    for (const part of ["src", "tests", "vitest.config.mjs", "vitest.config.ts", "tsconfig.json"]) {
      if (existsSync(join(source, part))) cpSync(join(source, part), join(directory, part), { recursive: true });
    }
    writeManifest(source, directory, {}, []);
    installPackages(directory, ["--legacy-peer-deps"]);
    const path = join(directory, "tests", config);
    // the file's own test server has these graphs without a configuration
    if (!existsSync(path)) writeFileSync(path, JSON.stringify({ node_version: "20", graphs: STREAM_GRAPHS, env: {} }));
    const server = await startProject(path, SERVER);
    try {
      prepare(join(directory, "tests", file), server.url);
      return await vitest(directory, [`tests/${file}`]);
    } finally {
      await server.stop();
    }
  },
});

const STREAM_GRAPHS = {
  agent: "./graphs/agent.mts:graph",
  agent_with_tools: "./graphs/agent_with_tools.mts:graph",
  agent_with_stats: "./graphs/agent_with_stats.mts:graph",
};

/** Reads checkpoints over HTTP, where the suite reads its own saver. */
const CHECKPOINTS_BY_HTTP = (url: string) => `
  serverUrl = "${url}";
  checkpointer = {
    async *list({ configurable }) {
      const response = await fetch(\`\${serverUrl}/threads/\${configurable.thread_id}/history\`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ limit: 100 }),
      });
      for (const state of await response.json()) {
        yield {
          checkpoint: { id: state.checkpoint.checkpoint_id },
          parentConfig: state.parent_checkpoint ? { configurable: state.parent_checkpoint } : undefined,
        };
      }
    },
  } as never;
});
`;

const withAddress = (port: number) => (file: string, url: string) => edit(file, [`http://localhost:${port}`, url]);

/** A suite of an SDK for a front-end library, in a browser; only the graphs' server and the browser's driver differ. */
const browserSuite = (name: string, extra: Record<string, string> = {}): Suite => ({
  name,
  async run({ checkout, directory: parent }) {
    const source = join(checkout, "libs", name);
    const directory = join(parent, "libs", name);
    cpSync(source, directory, { recursive: true });
    // the package's own extends it; it extends one that is not installed here
    cpSync(join(checkout, "tsconfig.json"), join(parent, "tsconfig.json"));
    edit(join(parent, "tsconfig.json"), [/"extends": "@[^"]*",/, ""]);
    writeManifest(source, directory, { ...driver(source), ...peers(source), ...extra }, WITHOUT_BROWSERS);
    // with peers, which the suites need, and in spite of conflicts between them
    installPackages(directory, ["--force"]);
    const fixtures = join(directory, "src/tests/fixtures");
    const served = [join(fixtures, "mock-server.ts"), join(directory, "src/tests/mock-server.ts")].find(existsSync)!;
    const config = join(directory, "langgraph.json");
    writeFileSync(config, JSON.stringify({ node_version: "20", graphs: exportGraphs(served, directory), env: {} }));
    const server = await startProject(config, SERVER);
    try {
      return await browse(directory, served, server.url);
    } finally {
      await server.stop();
    }
  },
});

const manifestIn = (source: string) =>
  JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Record<string, Record<string, string> | undefined>;

/** The driver of the suite's own version of Vitest. */
const driver = (source: string) => ({
  "@vitest/browser-playwright": manifestIn(source)["devDependencies"]!["vitest"]!,
  playwright: "latest",
});

function peers(source: string): Record<string, string> {
  const { peerDependencies = {}, devDependencies = {} } = manifestIn(source);
  return Object.fromEntries(Object.entries(peerDependencies).filter(([name]) => !(name in devDependencies)));
}

/** Makes a module of the graphs that a suite's own server serves. Returns them as langgraph.json names them. */
function exportGraphs(served: string, directory: string): Record<string, string> {
  const [graphs, server] = readFileSync(served, "utf8").split("\nlet httpServer");
  const [, table] = /\nconst graphs: Record<string, AnyPregel> = \{\n([\s\S]*?)\n\};/.exec(graphs!) ?? [];
  if (table === undefined || server === undefined) throw new Error(`${served} has another form`);
  const names = [...table.matchAll(/^ {2}(\w+)[:,]/gm)].map(([, name]) => name!);
  const file = join(served, "../..", "served-graphs.ts");
  const exported = names.map((name) => `export const graphOf_${name} = graphs.${name};`);
  writeFileSync(file, `${graphs}\n${exported.join("\n")}\n`);
  return Object.fromEntries(names.map((name) => [name, `.${file.slice(directory.length)}:graphOf_${name}`]));
}

async function browse(directory: string, served: string, url: string): Promise<TestResult[]> {
  const key = /\bprovide\("(\w+)"/.exec(readFileSync(served, "utf8"))![1];
  writeFileSync(served, `export const setup = ({ provide }) => provide("${key}", ${JSON.stringify(url)});\n`);
  const executablePath = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));
  const launch = { executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] };
  edit(
    join(directory, "vitest.config.ts"),
    [
      'import { webdriverio } from "@vitest/browser-webdriverio"',
      'import { playwright } from "@vitest/browser-playwright"',
    ],
    ["webdriverio()", `playwright({ launchOptions: ${JSON.stringify(launch)} })`],
    ['browser: "chrome"', 'browser: "chromium"'],
    // the same limit for a machine that serves graphs in further processes
    ["testTimeout: 5_000", "testTimeout: 20_000"],
    // types are not what is tested here
    [/typecheck: \{\s*enabled: true/, "typecheck: { enabled: false"],
  );
  return vitest(directory, []);
}

async function vitest(directory: string, files: string[]): Promise<TestResult[]> {
  const report = join(directory, "report.json");
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    ...files,
    "--reporter=verbose",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ];
  // Node 20 has a WebSocket client only with this flag
  const options = process.allowedNodeEnvironmentFlags.has("--experimental-websocket") ? "--experimental-websocket" : "";
  await runTests(process.execPath, args, directory, { NODE_OPTIONS: options });
  return readJestReport(report);
}

export const langGraphJsSuites: Suite[] = [
  apiSuite("api", "api.test.mts", "graphs/langgraph.json", withAddress(2024)),
  apiSuite("auth", "auth.test.mts", "graphs/langgraph.auth.json", withAddress(2025)),
  apiSuite("transport", "protocol-transport.test.mts", "graphs/langgraph.json", (file, url) =>
    edit(file, [/`http:\/\/localhost:\$\{TEST_SERVER_PORT\}`/, JSON.stringify(url)]),
  ),
  apiSuite("stream-sdk", "protocol-v2/stream-sdk.test.mts", "stream-sdk.json", (file, url) =>
    edit(file, [/beforeAll\(async \(\) => \{[\s\S]*?\n\}\);\n/, `beforeAll(async () => {${CHECKPOINTS_BY_HTTP(url)}`]),
  ),
  browserSuite("sdk-react"),
  browserSuite("sdk-vue"),
  browserSuite("sdk-svelte"),
  // peers of the compiler's plugin
  browserSuite("sdk-angular", { "@angular/build": "^22.1.0", "@angular/compiler-cli": "^22.1.0" }),
];
