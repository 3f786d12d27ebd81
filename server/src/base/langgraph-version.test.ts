import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { findPackages, packagesProblem } from "./langgraph-version.ts";

const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function project(files: Record<string, object | string>): string {
  const dir = mkdtempSync(join(tmpdir(), "heddle-langgraph-version-"));
  dirs.push(dir);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return dir;
}

const langgraph = (version: string, at = ".") => ({
  [`${at}/node_modules/@langchain/langgraph/package.json`]: { name: "@langchain/langgraph", version },
});
const LISTED = { dependencies: { "@langchain/langgraph": "^0.2.5" } };

function problem(files: Record<string, object | string>, graphs = ["./src/agent.ts"]): string | undefined {
  const dir = project(files);
  return packagesProblem(findPackages(dir, graphs))?.replaceAll(dir, "DIR");
}

test.each(["0.2.57", "0.2.74", "0.10.0", "1.0.0-alpha.1", "1.7.3"])("accepts LangGraph %s", (version) => {
  expect(problem({ "package.json": LISTED, ...langgraph(version) })).toBeUndefined();
});

test.each(["0.0.34", "0.2.5", "0.2.11", "0.2.56", "0.2.57-rc.1"])(
  "rejects LangGraph %s with the command",
  (version) => {
    expect(problem({ "package.json": LISTED, ...langgraph(version) })).toBe(
      `langgraph ${version} is not supported, needs 0.2.57 or newer. Run in DIR:\n` +
        "  npm install @langchain/langgraph@0.2 @langchain/core@0.3",
    );
  },
);

test.each([
  ["yarn.lock", "yarn add"],
  ["pnpm-lock.yaml", "pnpm add"],
  ["bun.lock", "bun add"],
  ["package-lock.json", "npm install"],
])("names the package manager of %s", (lock, command) => {
  expect(problem({ "package.json": LISTED, [lock]: "", ...langgraph("0.2.5") })).toContain(
    `\n  ${command} @langchain/langgraph@0.2`,
  );
});

test("names Yarn Plug'n'Play, and the setting that creates node_modules", () => {
  const files = { "package.json": { workspaces: ["agent"] }, ".pnp.cjs": "", "yarn.lock": "" };
  expect(problem({ ...files, "agent/package.json": LISTED }, ["./agent/graph.ts"])).toBe(
    "DIR uses Yarn Plug'n'Play, which is not supported: Heddle resolves packages from node_modules. Run there:\n" +
      "  yarn config set nodeLinker node-modules && yarn install",
  );
  expect(problem({ ...files, "package.json": LISTED, ...langgraph("1.7.3") })).toBeUndefined();
});

test("finds LangGraph in the package of a graph when a workspace does not hoist it", () => {
  const files = { "package.json": {}, "pnpm-lock.yaml": "", "apps/agents/package.json": LISTED };
  const graphs = ["./apps/agents/src/graph.ts"];
  expect(problem({ ...files, ...langgraph("1.0.0", "apps/agents") }, graphs)).toBeUndefined();
  expect(problem({ ...files, ...langgraph("0.2.5", "apps/agents") }, graphs)).toContain(
    "Run in DIR/apps/agents:\n  pnpm add",
  );
});

test("distinguishes packages that are not installed, and a project without LangGraph", () => {
  expect(problem({ "package.json": LISTED, "yarn.lock": "" })).toBe(
    "The packages of DIR are not installed. Run there:\n  yarn install",
  );
  expect(problem({ "package.json": {} })).toBe(
    "DIR has no @langchain/langgraph. Install it there:\n  npm install @langchain/langgraph @langchain/core",
  );
});
