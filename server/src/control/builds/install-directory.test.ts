import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { installDirectory } from "./install-directory.ts";

const root = mkdtempSync(join(tmpdir(), "heddle-workspaces-"));
afterAll(() => rmSync(root, { recursive: true }));
let projects = 0;

/** Returns the install directory of `apps/agent`, relative to the project. */
function installed(files: Record<string, string>): string {
  const project = join(root, String(projects++));
  for (const [name, text] of Object.entries({ "apps/agent/langgraph.json": "{}", ...files })) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  return installDirectory(project, join(project, "apps/agent")).slice(project.length + 1);
}
const own = { "apps/agent/package.json": "{}" };
const rootManifest = (workspaces: unknown) => ({ "package.json": JSON.stringify({ workspaces }), ...own });

test.each<[string, Record<string, string>]>([
  ["npm's workspaces", rootManifest(["packages/*", "apps/*"])],
  ["yarn's workspaces", rootManifest({ packages: ["apps/agent/"] })],
  ["workspaces at any depth", rootManifest(["./**"])],
  ["pnpm's workspaces", { "pnpm-workspace.yaml": "packages:\n  # all\n  - 'libs/*'\n  - \"apps/*\" # ours\n", ...own }],
  ["pnpm's workspaces in one line", { "pnpm-workspace.yaml": "packages: ['apps/*']\n", ...own }],
  ["a repository whose langgraph.json has no package.json beside it", { "package.json": "{}" }],
])("installs at the root of %s", (_, files) => {
  expect(installed(files)).toBe("");
});

test.each<[string, Record<string, string>]>([
  ["a repository without workspaces", { "package.json": "{}", ...own }],
  ["workspaces that do not include it", rootManifest(["packages/*", "apps/*/x", "app"])],
  ["workspaces that exclude it", rootManifest(["apps/*", "!apps/agent"])],
  ["a pnpm file with settings alone", { "pnpm-workspace.yaml": "onlyBuiltDependencies:\n  - apps/*\n", ...own }],
])("installs beside langgraph.json in %s", (_, files) => {
  expect(installed(files)).toBe("apps/agent");
});
