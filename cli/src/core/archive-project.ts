import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

import ignore, { type Ignore } from "ignore";
import { create } from "tar";

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
 * Lists the files of a project, except those that its .gitignore files and its .dockerignore exclude, and .env files:
 * their contents are passed as secrets.
 */
export function listProject(directory: string): ProjectFiles {
  const found: ProjectFiles = { files: [], links: [] };
  const rootRules = rulesIn(directory, [".gitignore", ".dockerignore"]);
  walk(directory, directory, rootRules ? [{ base: directory, rules: rootRules }] : [], found);
  found.files.sort();
  return found;
}

interface Rules {
  base: string;
  rules: Ignore;
}

function rulesIn(directory: string, names: string[]): Ignore | null {
  const files = names.map((name) => join(directory, name)).filter((file) => existsSync(file));
  if (files.length === 0) return null;
  return ignore().add(files.map((file) => readFileSync(file, "utf8")).join("\n"));
}

function walk(root: string, directory: string, above: Rules[], found: ProjectFiles): void {
  const own = directory === root ? null : rulesIn(directory, [".gitignore"]);
  const rules = own ? [...above, { base: directory, rules: own }] : above;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    const isDirectory = entry.isDirectory();
    if (
      NEVER.includes(entry.name) ||
      (!isDirectory && /^\.env(\..+)?$/.test(entry.name) && entry.name !== ".env.example")
    ) {
      continue;
    }
    if (
      rules.some(({ base, rules: ignoreRules }) => ignoreRules.ignores(relative(base, path) + (isDirectory ? "/" : "")))
    )
      continue;
    if (entry.isSymbolicLink()) found.links.push(relative(root, path));
    else if (isDirectory) walk(root, path, rules, found);
    else if (entry.isFile()) found.files.push(relative(root, path));
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
