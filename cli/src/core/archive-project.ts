import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";

import { create } from "tar";

import { excludes, readDockerignore, readGitignore, type Rule } from "./ignore-rules.ts";

/** Names excluded at any depth, because no deployment needs them. */
const NEVER = [
  "node_modules",
  ".git",
  ".heddle",
  ".langgraph_api",
  ".venv",
  "venv",
  "__pycache__",
  ".tox",
  ".mypy_cache",
];

export interface ProjectFiles {
  files: string[];
  /** Symbolic links, which are excluded. */
  links: string[];
}

/**
 * Lists the files of a project, except those that its .gitignore files or its .dockerignore exclude, and .env files:
 * their contents are passed as secrets.
 */
export function listProject(directory: string): ProjectFiles {
  const found: ProjectFiles = { files: [], links: [] };
  walk(directory, "", [], readDockerignore(readRules(join(directory, ".dockerignore"))), found);
  found.files.sort();
  return found;
}

const readRules = (file: string): string =>
  statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, "utf8") : "";

/** @param above rules of the .gitignore files above the directory, root first; `base` is empty or ends in a slash */
function walk(
  root: string,
  directory: string,
  above: readonly { base: string; rules: Rule[] }[],
  docker: Rule[],
  found: ProjectFiles,
): void {
  const own = readGitignore(readRules(join(root, directory, ".gitignore")));
  const git = own.length > 0 ? [...above, { base: directory, rules: own }] : above;
  // the last match decides, of the nearest file that has one
  const isExcludedByGit = (path: string, isDirectory: boolean): boolean => {
    for (const { base, rules } of git.toReversed()) {
      const answer = excludes(rules, path.slice(base.length), isDirectory);
      if (answer !== undefined) return answer;
    }
    return false;
  };
  for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
    const path = directory + entry.name;
    const isDirectory = entry.isDirectory();
    if (
      NEVER.includes(entry.name) ||
      (!isDirectory && /^\.env(\..+)?$/.test(entry.name) && entry.name !== ".env.example") ||
      isExcludedByGit(path, isDirectory)
    ) {
      continue;
    }
    // a negated rule of Docker also re-includes what is below an excluded directory
    if (isDirectory) walk(root, `${path}/`, git, docker, found);
    else if (excludes(docker, path, false)) continue;
    else if (entry.isSymbolicLink()) found.links.push(path);
    else if (entry.isFile()) found.files.push(path);
  }
}

/** Writes gzip of tar. Owners and times are fixed, so the same files make the same archive. */
export const archiveProject = (directory: string, files: string[], to: string): Promise<void> =>
  create({ gzip: true, portable: true, cwd: directory, file: to, mtime: new Date(0) }, files);

/**
 * Returns the packages that the project takes from files outside the directory that is sent, so that they cannot be
 * installed elsewhere.
 */
export function packagesOutside(directory: string, root = directory): { name: string; spec: string }[] {
  let listed: Record<string, Record<string, unknown> | undefined>;
  try {
    listed = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as typeof listed;
  } catch {
    // the package manager reports an invalid package.json
    return [];
  }
  const all = [listed["dependencies"], listed["devDependencies"], listed["optionalDependencies"]];
  return all
    .flatMap((of) => Object.entries(of ?? {}))
    .filter((pair): pair is [string, string] => typeof pair[1] === "string")
    .flatMap(([name, spec]) => {
      const path = /^(?:file|link):(.+)$/.exec(spec)?.[1];
      return path !== undefined && !`${resolve(directory, path)}${sep}`.startsWith(`${resolve(root)}${sep}`)
        ? [{ name, spec }]
        : [];
    });
}
