import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { launcherPath } from "./launcher.ts";

/** The examples, beside this package's sources and in the built package. */
const EXAMPLES = fileURLToPath(new URL("../../../examples", import.meta.url));

interface Template {
  summary: string;
  /** Packages of the example besides LangGraph. */
  packages: string[];
  input: object;
}

export const TEMPLATES: Record<string, Template> = {
  agent: {
    summary: "an agent with tools; uses a provider's model if its key is set, else a local one",
    packages: ["@langchain/openai", "@langchain/anthropic", "zod"],
    input: { messages: [{ role: "user", content: "What is the weather in Berlin?" }] },
  },
  approval: {
    summary: "a graph that asks a human before it acts",
    packages: [],
    input: { topic: "lunch on Friday" },
  },
};

const DEVELOPMENT = { "@types/node": "^20.19.0", tsx: "^4.23.0", typescript: "^5.9.0" };

interface ProjectParams {
  name: string;
  template: string;
}

/** Writes a project of an example: its graph and test, and what they need to be installed, compiled and served. */
export function createProject(directory: string, { name, template }: ProjectParams): void {
  const { packages, input } = TEMPLATES[template]!;
  const manifest = JSON.parse(readFileSync(join(EXAMPLES, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const names = ["@langchain/core", "@langchain/langgraph", ...packages].toSorted();
  const dependencies = Object.fromEntries(
    names.map((dependency) => [dependency, `^${manifest.dependencies[dependency]}`]),
  );
  mkdirSync(directory, { recursive: true });
  cpSync(join(EXAMPLES, template), join(directory, "src"), { recursive: true });
  const json = (file: string, content: object) =>
    writeFileSync(join(directory, file), `${JSON.stringify(content, null, 2)}\n`);
  json("package.json", {
    name: packageName(name),
    private: true,
    type: "module",
    scripts: { dev: "node heddle.mjs dev", test: "node --import tsx --test src/*.test.ts", types: "tsc --noEmit" },
    dependencies,
    devDependencies: DEVELOPMENT,
  });
  json("langgraph.json", {
    node_version: "20",
    dependencies: ["."],
    graphs: { [template]: "./src/graph.ts:graph" },
    env: ".env",
  });
  json("tsconfig.json", {
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
  cpSync(join(EXAMPLES, "heddle.mjs"), join(directory, "heddle.mjs"));
  // of this machine only, and so not for other checkouts of the project
  writeFileSync(join(directory, ".heddle-cli"), `${launcherPath()}\n`);
  writeFileSync(join(directory, ".gitignore"), "node_modules\n.heddle\n.heddle-cli\n.env\n");
  writeFileSync(join(directory, ".env"), "# Variables of the graph, such as OPENAI_API_KEY\n");
  writeFileSync(join(directory, "README.md"), readme(name, template, input));
}

const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[-._]+|[-.]+$/g, "") || "graph";

const readme = (name: string, template: string, input: object): string => `# ${name}

\`\`\`sh
npm run dev     # serves the graph at http://127.0.0.1:2024 and the console at http://127.0.0.1:3000
npm test
npm run types
\`\`\`

\`heddle.mjs\` starts Heddle, which is not a dependency of this project: the one that is installed on the machine, or the
one whose \`cli/bin/heddle.js\` HEDDLE_CLI names. Without either, it prints how to install it.

A request to the running server:

\`\`\`sh
curl -s http://127.0.0.1:2024/runs/wait -H 'content-type: application/json' \\
  -d '${JSON.stringify({ assistant_id: template, input })}'
\`\`\`

The graph is in \`src/graph.ts\`; the server reloads it when a file changes. Variables of the graph are in \`.env\`.
`;
