import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

import { parse } from "smol-toml";

import { matchesPattern } from "./install-directory.ts";

interface Workspace {
  members: string[];
  exclude: string[];
}

/** Directories that hold no members, however wide the patterns are. */
const SKIPPED = new Set(["node_modules", ".venv", ".git", "__pycache__"]);

/**
 * Returns the root of the uv workspace that a project belongs to, at or above its directory and inside `root`; null if
 * there is none. The rule is uv's: the nearest pyproject.toml with a table `tool.uv.workspace`, whose `members` include
 * the project's path and whose `exclude` does not.
 */
export function uvWorkspaceRoot(root: string, directory: string): string | null {
  for (let at = directory; ; at = dirname(at)) {
    if (isUvWorkspaceOf(at, directory)) return at;
    if (resolve(at) === resolve(root) || dirname(at) === at) return null;
  }
}

/** Whether the uv workspace declared in a directory includes another directory at or below it. */
export function isUvWorkspaceOf(directory: string, member: string): boolean {
  const workspace = workspaceOf(directory);
  if (workspace === null) return false;
  return resolve(directory) === resolve(member) || includes(workspace, pathBelow(directory, member));
}

/** Returns the members of a workspace, as paths relative to its root; `.` first if that is a package. */
export function uvWorkspaceMembers(root: string): string[] {
  const workspace = workspaceOf(root) ?? { members: [], exclude: [] };
  const found = readPyproject(root)?.["project"] === undefined ? [] : ["."];
  const visit = (at: string) => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (!entry.isDirectory() || SKIPPED.has(entry.name)) continue;
      const path = join(at, entry.name);
      const name = pathBelow(root, path);
      if (includes(workspace, name) && existsSync(join(path, "pyproject.toml"))) found.push(name);
      visit(path);
    }
  };
  if (workspace.members.length > 0) visit(root);
  return found;
}

const includes = ({ members, exclude }: Workspace, path: string): boolean =>
  members.some((pattern) => matchesPattern(pattern, path)) && !exclude.some((pattern) => matchesPattern(pattern, path));

const pathBelow = (directory: string, path: string): string => relative(directory, path).split(sep).join("/");

function workspaceOf(directory: string): Workspace | null {
  const tool = readPyproject(directory)?.["tool"] as { uv?: { workspace?: Partial<Workspace> } } | undefined;
  const workspace = tool?.uv?.workspace;
  return workspace ? { members: workspace.members ?? [], exclude: workspace.exclude ?? [] } : null;
}

/** Returns null where there is none, or one that the package manager reports as invalid. */
function readPyproject(directory: string): Record<string, unknown> | null {
  try {
    return parse(readFileSync(join(directory, "pyproject.toml"), "utf8"));
  } catch {
    return null;
  }
}
