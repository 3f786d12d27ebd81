import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { launcherPath } from "./launcher.ts";
import { readVersion } from "./version.ts";
import { WORKFLOW_HEAD } from "./workflow-head.ts";

/** The examples, beside this package's sources and in the built package. */
const EXAMPLES = fileURLToPath(new URL("../../../examples", import.meta.url));

interface Template {
  summary: string;
  language: "typescript" | "python";
  /** Name of the graph, and of the example's directory. */
  graph: string;
  /** Packages of the example besides LangGraph. */
  packages: string[];
  input: object;
}

const AGENT = {
  graph: "agent",
  input: { messages: [{ role: "user", content: "What is the weather in Berlin?" }] },
};
const APPROVAL = {
  graph: "approval",
  packages: [],
  summary: "a graph that asks a human before it acts",
  input: { topic: "lunch on Friday" },
};

/** By the value of `--template`. */
export const TEMPLATES: Record<string, Template> = {
  agent: {
    ...AGENT,
    language: "typescript",
    summary: "an agent with tools; uses a provider's model if its key is set, else a local one",
    packages: ["@langchain/openai", "@langchain/anthropic", "zod"],
  },
  approval: { ...APPROVAL, language: "typescript" },
  "python-agent": {
    ...AGENT,
    language: "python",
    summary: "an agent in Python with tools and a local model",
    packages: [],
  },
  "python-approval": { ...APPROVAL, language: "python", summary: `${APPROVAL.summary}, in Python` },
};

const DEVELOPMENT = { "@types/node": "^20.19.0", tsx: "^4.23.0", typescript: "^5.9.0" };

interface ProjectParams {
  name: string;
  /** A key of {@link TEMPLATES}. */
  template: string;
}

/** Writes a project of an example: its graph and test, and what they need to be installed, tested and served. */
export function createProject(directory: string, { name, template }: ProjectParams): void {
  const chosen = TEMPLATES[template]!;
  mkdirSync(join(directory, ".github/workflows"), { recursive: true });
  const write = (file: string, content: string) => writeFileSync(join(directory, file), content);
  const ignored =
    chosen.language === "python" ? writePython(directory, chosen) : writeTypeScript(directory, name, chosen);
  cpSync(join(EXAMPLES, "heddle.mjs"), join(directory, "heddle.mjs"));
  // of this machine only, and so not for other checkouts of the project
  write(".heddle-cli", `${launcherPath()}\n`);
  write(".gitignore", `${[...ignored, ".heddle", ".heddle-cli", ".env"].join("\n")}\n`);
  write(".env", "# Variables of the graph, such as OPENAI_API_KEY\n");
  write("README.md", readme(name, chosen));
  write(".github/workflows/test.yml", workflow(chosen));
}

function writeJson(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** @returns names that Git ignores */
function writeTypeScript(directory: string, name: string, { graph, packages }: Template): string[] {
  const manifest = JSON.parse(readFileSync(join(EXAMPLES, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const names = ["@langchain/core", "@langchain/langgraph", ...packages].toSorted();
  const dependencies = Object.fromEntries(
    names.map((dependency) => [dependency, `^${manifest.dependencies[dependency]}`]),
  );
  cpSync(join(EXAMPLES, graph), join(directory, "src"), { recursive: true });
  writeJson(join(directory, "package.json"), {
    name: packageName(name),
    private: true,
    type: "module",
    engines: { heddle: `^${readVersion()}` },
    scripts: { dev: "node heddle.mjs dev", test: "node --import tsx --test src/*.test.ts", types: "tsc --noEmit" },
    dependencies,
    devDependencies: DEVELOPMENT,
  });
  writeJson(join(directory, "langgraph.json"), {
    node_version: "20",
    dependencies: ["."],
    graphs: { [graph]: "./src/graph.ts:graph" },
    env: ".env",
  });
  writeJson(join(directory, "tsconfig.json"), {
    compilerOptions: {
      target: "es2023",
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: ["node"],
    },
    include: ["src"],
  });
  return ["node_modules"];
}

/** @returns names that Git ignores */
function writePython(directory: string, { graph }: Template): string[] {
  const examples = join(EXAMPLES, "python");
  cpSync(join(examples, graph), join(directory, graph), {
    recursive: true,
    filter: (path) => basename(path) !== "__pycache__",
  });
  cpSync(join(examples, "requirements.txt"), join(directory, "requirements.txt"));
  writeJson(join(directory, "langgraph.json"), {
    dependencies: ["."],
    graphs: { [graph]: `./${graph}/graph.py:graph` },
    env: ".env",
  });
  return [".venv", "__pycache__"];
}

const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[-._]+|[-.]+$/g, "") || "graph";

/** What a user types, by language. */
export const COMMANDS = {
  typescript: { install: ["npm install"], dev: "npm run dev", tests: ["npm test", "npm run types"] },
  python: {
    install: ["python3 -m venv .venv", ".venv/bin/pip install --quiet -r requirements.txt"],
    dev: "node heddle.mjs dev",
    tests: [".venv/bin/python -m unittest"],
  },
};

const readme = (name: string, { language, graph, input }: Template): string => `# ${name}

Made for Heddle ${readVersion()}.

\`\`\`sh
${COMMANDS[language].install.join("\n")}
${COMMANDS[language].dev}     # serves the graph at http://127.0.0.1:2024 and the console at http://127.0.0.1:3000
${COMMANDS[language].tests.join("\n")}
\`\`\`

\`heddle.mjs\` starts Heddle, which is not a dependency of this project: the one that is installed on the machine, or the
one whose \`cli/bin/heddle.js\` HEDDLE_CLI names. Without either, it prints how to install it.

A request to the running server:

\`\`\`sh
curl -s http://127.0.0.1:2024/runs/wait -H 'content-type: application/json' \\
  -d '${JSON.stringify({ assistant_id: graph, input })}'
\`\`\`

The graph is in \`${language === "python" ? `${graph}/graph.py` : "src/graph.ts"}\`; the server reloads it when a file changes. Variables of the graph are in \`.env\`. Each pull request runs the tests (\`.github/workflows/test.yml\`).
`;

const workflow = ({ language }: Template): string => `# Runs the tests of the graph, which need no key and no server.
name: Test
${WORKFLOW_HEAD}

jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
${language === "python" ? SETUP_PYTHON : SETUP_NODE}
${[...COMMANDS[language].install, ...COMMANDS[language].tests].map((command) => `      - run: ${command}`).join("\n")}
`;

const SETUP_NODE = `      - uses: actions/setup-node@v4
        with:
          node-version: 24`;
const SETUP_PYTHON = `      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"`;
