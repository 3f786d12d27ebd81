import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import { findProblems, readVersions } from "./release-checks.ts";

let root: string;
const write = (file: string, text: string) => {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
};
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: root, stdio: "ignore" });
const commit = () => (git("add", "."), git("commit", "-m", "change"));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "heddle-release-"));
  const version = "1.2.3";
  write("package.json", JSON.stringify({ version, workspaces: ["cli"] }));
  write("cli/package.json", JSON.stringify({ version }));
  write("package-lock.json", JSON.stringify({ packages: { "": { version }, cli: { version } } }));
  write("graph-host-python/pyproject.toml", `[project]\nversion = "${version}"\n`);
  write("deploy/helm/heddle/Chart.yaml", `version: ${version}\nappVersion: "${version}"\n`);
  write("CHANGELOG.md", `# Changelog\n\n## Pending\n\n## ${version} (2026-11-28)\n\n### Added\n\n- A thing.\n`);
  write("docs/upgrading.md", `# Upgrading\n\n## ${version}\n\nNothing to do.\n`);
  git("init", "--quiet");
  commit();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("a committed tree with one version, a changelog section and upgrade notes can be released", () => {
  expect(findProblems(root)).toEqual([]);
});

test("names the files whose version differs", () => {
  write("cli/package.json", JSON.stringify({ version: "1.2.2" }));
  write("deploy/helm/heddle/Chart.yaml", `version: 1.2.3\n`);
  commit();
  expect(findProblems(root)).toEqual([
    "The packages have different versions: package.json has 1.2.3, cli/package.json has 1.2.2, " +
      "deploy/helm/heddle/Chart.yaml (appVersion) has none.",
  ]);
});

test("asks for the missing section, its date, its entries and the upgrade notes", () => {
  const problemsOf = (changelog: string) => (write("CHANGELOG.md", changelog), commit(), findProblems(root));
  expect(problemsOf("# Changelog\n\n## Pending\n\n- A thing.\n")).toEqual([
    'CHANGELOG.md has no section of version 1.2.3: move the entries of Pending below "## 1.2.3 (YYYY-MM-DD)".',
  ]);
  expect(problemsOf("# Changelog\n\n## 1.2.3\n\n- A thing.\n")[0]).toContain("has no date");
  expect(problemsOf("# Changelog\n\n## 1.2.3 (2026-11-28)\n\n## 1.2.2 (2026-11-01)\n\n- An older thing.\n")).toEqual([
    "The section 1.2.3 of CHANGELOG.md has no entries.",
  ]);
  write("docs/upgrading.md", "# Upgrading\n\n## 1.2.2\n");
  expect(findProblems(root).join()).toContain('docs/upgrading.md has no section "## 1.2.3"');
});

test("rejects changed and untracked files, which only a dry run may allow", () => {
  write("cli/new.ts", "");
  write("docs/upgrading.md", "# Upgrading\n\n## 1.2.3\n");
  expect(findProblems(root)).toEqual(["The tree has changes that are not committed: M docs/upgrading.md and 1 more."]);
  expect(findProblems(root, { allowDirty: true })).toEqual([]);
});

test("rejects a version whose tag names another commit, and accepts a tag of this one", () => {
  git("tag", "v1.2.3");
  expect(findProblems(root)).toEqual([]);
  write("new", "");
  commit();
  expect(findProblems(root)).toEqual([expect.stringMatching(/^The tag v1\.2\.3 names another commit \(\w{10}\)/)]);
});

test("all packages of this checkout have one version", () => {
  const versions = readVersions(fileURLToPath(new URL("../..", import.meta.url)));
  const version = versions.get("package.json");
  expect([...versions].filter(([, each]) => each !== version)).toEqual([]);
});
