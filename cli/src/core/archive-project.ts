import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";

import { create } from "tar";

import { ignoredBy } from "./ignore-rules.ts";

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
  const isIgnored = ignoredBy((path) => readText(join(directory, path)));
  const walk = (base: string): void => {
    for (const entry of readdirSync(join(directory, base), { withFileTypes: true })) {
      const path = base + entry.name;
      const isDirectory = entry.isDirectory();
      const isEnvironment = !isDirectory && /^\.env(\..+)?$/.test(entry.name) && entry.name !== ".env.example";
      if (isEnvironment || isIgnored(path, isDirectory)) continue;
      if (isDirectory) walk(`${path}/`);
      else if (entry.isSymbolicLink()) found.links.push(path);
      else if (entry.isFile()) found.files.push(path);
    }
  };
  walk("");
  found.files.sort();
  return found;
}

const readText = (file: string): string =>
  statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, "utf8") : "";

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
