import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, expect, test } from "vitest";

import { installCommand, programIn } from "./package-manager.ts";

let directory = "";
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function project(files: Record<string, string>, packageManager?: string): string {
  directory = mkdtempSync(join(tmpdir(), "heddle-packages-"));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "a", packageManager }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}
const always = () => true;

test.each<[string, Record<string, string>, string | undefined, string, string]>([
  [
    "pnpm by its lock file",
    { "pnpm-lock.yaml": "lockfileVersion: '9.0'\n" },
    undefined,
    "pnpm install --frozen-lockfile",
    "npx --yes --package=pnpm@10 pnpm install --frozen-lockfile",
  ],
  [
    "an older pnpm",
    { "pnpm-lock.yaml": "lockfileVersion: '6.0'\n" },
    undefined,
    "pnpm install --frozen-lockfile",
    "npx --yes --package=pnpm@8 pnpm install --frozen-lockfile",
  ],
  [
    "pnpm in the version that is named",
    { "pnpm-lock.yaml": "" },
    "pnpm@9.1.0+sha512.abc",
    "pnpm install --frozen-lockfile",
    "npx --yes --package=pnpm@9.1.0 pnpm install --frozen-lockfile",
  ],
  [
    "yarn 1",
    { "yarn.lock": "# yarn lockfile v1\n", "package-lock.json": "{}" },
    undefined,
    "yarn install --frozen-lockfile",
    "npx --yes --package=yarn@1.22.22 yarn install --frozen-lockfile",
  ],
  [
    "a newer yarn",
    { "yarn.lock": "__metadata:\n  version: 8\n" },
    "yarn@4.9.1",
    "YARN_NODE_LINKER=node-modules yarn install --immutable",
    "YARN_NODE_LINKER=node-modules npx --yes --package=@yarnpkg/cli-dist@4.9.1 yarn install --immutable",
  ],
  [
    "bun",
    { "bun.lock": "" },
    undefined,
    "bun install --frozen-lockfile",
    "npx --yes --package=bun@1 bun install --frozen-lockfile",
  ],
  ["pnpm by its name alone", {}, "pnpm@9.1.0", "pnpm install", "npx --yes --package=pnpm@9.1.0 pnpm install"],
  [
    "what would be a command",
    { "pnpm-lock.yaml": "" },
    "pnpm@9; touch /tmp/x",
    "pnpm install --frozen-lockfile",
    "npx --yes --package=pnpm@10 pnpm install --frozen-lockfile",
  ],
])("%s", (_, files, named, here, fetched) => {
  expect(installCommand(project(files, named), always)).toBe(here);
  expect(installCommand(project(files, named), () => false)).toBe(fetched);
});

test("uses npm by default, with or without a lock file", () => {
  expect(installCommand(project({ "package-lock.json": "{}" }))).toMatch(/^npm ci /);
  expect(installCommand(project({}))).toMatch(/^npm install /);
  expect(installCommand(project({}, "other@1.0.0"))).toMatch(/^npm install /);
});

test("finds programs in the directories of PATH", () => {
  const path = project({});
  mkdirSync(join(path, "bin"));
  writeFileSync(join(path, "bin/pnpm"), "");
  chmodSync(join(path, "bin/pnpm"), 0o755);
  expect([programIn(`:/nowhere:${path}/bin`)("pnpm"), programIn(`${path}/bin`)("yarn")]).toEqual([true, false]);
});
