import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type RunningServer, startLockedTraces } from "../../../conformance/server.ts";
import { installPackages } from "../../build/install-packages.ts";
import { createEnvironment, installUv, runInstaller } from "../../services/python-environments.ts";
import { newestPython } from "./langgraph.ts";
import { type PackageJson, readJestReport, readJUnitReport, runTests, type Suite } from "./suite.ts";

/** Test files that call model providers or the vendor's own services, which need accounts. */
const VENDOR_FILES = /wrapped_|claude_agent|openai_agents|vercel|sandbox|perf\.int/;

/**
 * Packages that only those files and the SDK's own tools use. They are pinned to versions that a registry may not offer
 * yet.
 */
const VENDOR_PACKAGES =
  /^(?:@ai-sdk\/(?!openai$)|@anthropic-ai\/|@babel\/|@earendil-works\/|@google\/|@openai\/|@typescript-eslint\/|mongoose$|msw$|ox|typedoc|vitest$)/;
/** Packages that a file of the suite imports and pins likewise. */
const PINNED_PACKAGES = /^(?:ai|@ai-sdk\/openai)$/;

/** What both SDKs read from the environment. */
const environment = ({ url, key }: RunningServer & { key: string }) => ({
  LANGSMITH_ENDPOINT: `${url}/api/v1`,
  LANGCHAIN_ENDPOINT: `${url}/api/v1`,
  LANGSMITH_API_KEY: key,
  LANGCHAIN_API_KEY: key,
  // as in the workflows of the vendor
  LANGSMITH_TRACING_V2: "true",
  LANGSMITH_TRACING: "true",
});

async function withTraces<Result>(work: (env: Record<string, string>) => Promise<Result>): Promise<Result> {
  const server = await startLockedTraces({ HEDDLE_RATE_LIMITS: "off" });
  try {
    // without one, the clients push no public prompts
    await setHandle(server);
    return await work(environment(server));
  } finally {
    await server.stop();
  }
}

async function setHandle({ url, key }: RunningServer & { key: string }): Promise<void> {
  const response = await fetch(`${url}/api/v1/settings/handle`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ tenant_handle: "heddle" }),
  });
  if (!response.ok) throw new Error(`the handle was answered with ${response.status}`);
}

export const langSmithSuites: Suite[] = [
  {
    name: "langsmith-js",
    async run({ checkout, directory }) {
      const source = join(checkout, "js");
      cpSync(source, directory, { recursive: true, filter: (path) => !path.includes("node_modules") });
      const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as PackageJson;
      const dependencies = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
        .filter(([name]) => !VENDOR_PACKAGES.test(name))
        .map(([name, range]) => [name, PINNED_PACKAGES.test(name) ? "latest" : range]);
      // its scripts build a package for publication
      const copy = { ...manifest, scripts: {}, dependencies: Object.fromEntries(dependencies), devDependencies: {} };
      writeFileSync(join(directory, "package.json"), JSON.stringify(copy, null, 2));
      // of the package manager that the repository uses
      writeFileSync(join(directory, ".npmrc"), "legacy-peer-deps=true\n");
      installPackages(directory);
      // a test that fails once has failed
      writeFileSync(join(directory, "jest.setup.cjs"), "");
      const files = readdirSync(join(directory, "src/tests"))
        .filter((file) => file.endsWith(".int.test.ts") && !VENDOR_FILES.test(file))
        .map((file) => `src/tests/${file}`);
      const report = join(directory, "report.json");
      const args = ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "--testTimeout", "100000"];
      return withTraces(async (env) => {
        await runTests(
          process.execPath,
          [...args, "--json", `--outputFile=${report}`, "--runTestsByPath", ...files],
          directory,
          env,
        );
        return readJestReport(report);
      });
    },
  },
  {
    name: "langsmith-python",
    async run({ checkout, directory }) {
      cpSync(join(checkout, "python"), directory, { recursive: true });
      const interpreter = newestPython();
      // the newest clients of model providers bring a second HTTP library, which the suite's recorder mixes up with the first
      const locked = join(directory, "locked.txt");
      const exported = ["export", "--quiet", "--frozen", "--no-hashes", "--no-emit-project", "-o", locked];
      const uv = installUv(interpreter);
      if (uv) runInstaller(uv, [...exported, "--all-groups", "--all-extras"], directory);
      const python = createEnvironment(join(directory, ".environment"), interpreter, [
        ...(uv ? ["--constraint", locked] : []),
        `${directory}[pytest,vcr,otel]`,
        // without those that repeat a test: one that fails once has failed
        ...["pytest", "pytest-asyncio", "pytest-socket", "pytest-subtests", "pytest-timeout", "freezegun", "psutil"],
        ...["httpx", "fastapi", "pillow", "tiktoken", "rapidfuzz", "vcrpy", "langchain-openai", "langchain-anthropic"],
        ...["uvicorn", "numpy", "pandas", "attrs", "dataclasses-json", "python-dotenv", "opentelemetry-sdk"],
        ...["langchain", "langchain-core", "langchain-classic", "langgraph", "openai", "anthropic", "multipart"],
      ]);
      const report = join(directory, "report.xml");
      return withTraces(async (env) => {
        const tests = ["tests/integration_tests", "tests/evaluation"];
        // threads that tests leave behind would keep it from ending
        const run = ["-c", "import os, sys, pytest; os._exit(pytest.main(sys.argv[1:]))"];
        const args = [...run, ...tests, "--ignore=tests/integration_tests/wrappers", "-q", "--timeout=120"];
        await runTests(python, [...args, `--junitxml=${report}`], directory, env);
        return readJUnitReport(report);
      });
    },
  },
];
