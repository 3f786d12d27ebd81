import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { installCommand } from "./offer-chdb.ts";

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "heddle-offer-"))));
afterEach(() => rmSync(root, { recursive: true }));

function install(modules: string): string {
  const directory = join(root, modules, "heddle");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ peerDependencies: { chdb: "3.4.0" } }));
  return directory;
}

test("chDB is installed beside a global package, and into the project of a local one", () => {
  expect(installCommand(install("lib/node_modules"))).toEqual({
    args: ["install", "--global", "chdb@3.4.0"],
    cwd: join(root, "lib"),
  });
  const local = install("project/node_modules");
  writeFileSync(join(root, "project/package.json"), "{}");
  expect(installCommand(local)).toEqual({ args: ["install", "chdb@3.4.0"], cwd: join(root, "project") });
});

test("nothing is offered in a clone, which has chDB among its packages", () => {
  expect(installCommand(install("clone"))).toBeUndefined();
});
