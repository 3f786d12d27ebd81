import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { startProject } from "../../../conformance/server.ts";
import { createEnvironment, findPython } from "../../services/python-environments.ts";
import { edit, readJUnitReport, runTests, type Suite } from "./suite.ts";

/** Newest first: graphs and tests share an environment. */
const PYTHONS = ["3.14", "3.13", "3.12", "3.11"];
const PACKAGES = [
  "langgraph",
  "langgraph-sdk",
  "langchain",
  "deepagents",
  "httpx",
  "websockets",
  "pytest",
  "pytest-asyncio",
  "pytest-mock",
  "pytest-timeout",
];

export function newestPython(): string {
  const interpreter = PYTHONS.map(findPython).find((path) => path !== undefined);
  if (interpreter === undefined) throw new Error(`no Python of ${PYTHONS.join(", ")} is installed`);
  return interpreter;
}

export const langGraphSuites: Suite[] = [
  {
    name: "sdk-py",
    async run({ checkout, directory }) {
      const source = join(checkout, "libs/sdk-py");
      cpSync(join(source, "tests"), join(directory, "tests"), { recursive: true });
      for (const part of ["graph", "langgraph.json"]) {
        cpSync(join(source, "integration", part), join(directory, part), { recursive: true });
      }
      writeFileSync(join(directory, "pytest.ini"), "[pytest]\nasyncio_mode = auto\nmarkers =\n    integration: x\n");
      const python = createEnvironment(join(directory, "environment"), newestPython(), PACKAGES);
      const server = await startProject(join(directory, "langgraph.json"), {
        HEDDLE_PYTHON: python,
        HEDDLE_CONSOLE: "false",
        LANGSMITH_TRACING: "false",
      });
      try {
        // the one file that does not read the address from the environment
        edit(join(directory, "tests/integration/test_remote_graph_v3.py"), ["http://localhost:2024", server.url]);
        const report = join(directory, "report.xml");
        const args = [
          "-m",
          "pytest",
          "tests/integration",
          "-m",
          "integration",
          "-q",
          "--timeout=120",
          `--junitxml=${report}`,
        ];
        await runTests(python, args, directory, { LANGGRAPH_INTEGRATION_URL: server.url });
        return readJUnitReport(report);
      } finally {
        await server.stop();
      }
    },
  },
];
