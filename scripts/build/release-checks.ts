/** What must hold before a release is made: one version, its texts, and a tree that is exactly a commit. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const HEADING = /^## (\S+)(?: \((\d{4}-\d{2}-\d{2})\))?$/;

/** Runs git in `root` and returns its output; undefined if it fails. */
export function git(root: string, ...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** Returns the version in each file that states one, by the file's path. */
export function readVersions(root: string): Map<string, string | undefined> {
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const { version, workspaces = [] } = JSON.parse(read("package.json")) as { version: string; workspaces?: string[] };
  const versions = new Map<string, string | undefined>([["package.json", version]]);
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, { version?: string }> };
  versions.set("package-lock.json", packages[""]?.version);
  for (const name of workspaces) {
    versions.set(`${name}/package.json`, (JSON.parse(read(`${name}/package.json`)) as { version?: string }).version);
    versions.set(`package-lock.json (${name})`, packages[name]?.version);
  }
  versions.set("graph-host-python/pyproject.toml", find(read("graph-host-python/pyproject.toml"), "version = "));
  const chart = read("deploy/helm/heddle/Chart.yaml");
  versions.set("deploy/helm/heddle/Chart.yaml", find(chart, "version: "));
  versions.set("deploy/helm/heddle/Chart.yaml (appVersion)", find(chart, "appVersion: "));
  return versions;
}

/** Returns the value of the first line that begins with `key`. */
const find = (text: string, key: string) =>
  text
    .split("\n")
    .find((line) => line.startsWith(key))
    ?.slice(key.length)
    .replaceAll('"', "");

/** Returns the text below a version's heading in the changelog; undefined if there is none. */
export function findSection(changelog: string, version: string): { date?: string; text: string } | undefined {
  const lines = changelog.split("\n");
  const start = lines.findIndex((line) => HEADING.exec(line)?.[1] === version);
  if (start < 0) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => HEADING.test(line));
  const end = length < 0 ? lines.length : start + 1 + length;
  const text = lines
    .slice(start + 1, end)
    .join("\n")
    .trim();
  return { date: HEADING.exec(lines[start]!)?.[2], text };
}

/** Lists what prevents a release of the checkout at `root`; empty if nothing does. */
export function findProblems(root: string, options: { allowDirty?: boolean } = {}): string[] {
  const problems: string[] = [];
  const versions = readVersions(root);
  const version = versions.get("package.json")!;
  const others = [...versions].filter(([, each]) => each !== version);
  if (others.length > 0) {
    const list = others.map(([file, each]) => `${file} has ${each ?? "none"}`).join(", ");
    problems.push(`The packages have different versions: package.json has ${version}, ${list}.`);
  }
  const section = findSection(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);
  const heading = `"## ${version} (YYYY-MM-DD)"`;
  if (section === undefined) {
    problems.push(`CHANGELOG.md has no section of version ${version}: move the entries of Pending below ${heading}.`);
  } else if (section.date === undefined)
    problems.push(`The section ${version} of CHANGELOG.md has no date: ${heading}.`);
  else if (!/^- /m.test(section.text)) problems.push(`The section ${version} of CHANGELOG.md has no entries.`);
  const upgrading = join(root, "docs", "upgrading.md");
  if (!existsSync(upgrading) || findSection(readFileSync(upgrading, "utf8"), version) === undefined) {
    problems.push(
      `docs/upgrading.md has no section "## ${version}": say what an operator has to do, or that it is nothing.`,
    );
  }
  const changes = git(root, "status", "--porcelain");
  if (changes === undefined) problems.push("This is not a git checkout.");
  else if (changes !== "" && !options.allowDirty) {
    const [first, ...more] = changes.split("\n");
    problems.push(
      `The tree has changes that are not committed: ${first}${more.length > 0 ? ` and ${more.length} more` : ""}.`,
    );
  }
  const tagged = git(root, "rev-parse", "--verify", "--quiet", `refs/tags/v${version}^{commit}`);
  if (tagged !== undefined && tagged !== git(root, "rev-parse", "HEAD")) {
    problems.push(`The tag v${version} names another commit (${tagged.slice(0, 10)}): raise the version.`);
  }
  return problems;
}
