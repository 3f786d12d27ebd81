import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/**
 * Returns the directory whose packages a project uses: that of its langgraph.json, the root of the workspaces that it
 * belongs to, or the root of the repository if langgraph.json has no package.json beside it.
 */
export function installDirectory(root: string, configDirectory: string): string {
  if (!existsSync(join(configDirectory, "package.json"))) return root;
  for (let at = configDirectory; at !== root;) {
    at = dirname(at);
    if (isWorkspaceOf(at, configDirectory)) return at;
  }
  return configDirectory;
}

/** Whether the workspaces declared in a directory, for npm, yarn, bun or pnpm, include another one below it. */
export function isWorkspaceOf(directory: string, member: string): boolean {
  const path = relative(directory, member).split(sep).join("/");
  const patterns = workspacePatterns(directory);
  const matches = (pattern: string) => matchesPattern(pattern, path);
  return (
    patterns.some((pattern) => !pattern.startsWith("!") && matches(pattern)) &&
    !patterns.some((pattern) => pattern.startsWith("!") && matches(pattern.slice(1)))
  );
}

/** Whether a pattern of a workspace, such as `apps/*`, describes a path relative to the workspace's root. */
export const matchesPattern = (pattern: string, path: string): boolean => toRegExp(pattern).test(path);

function workspacePatterns(directory: string): string[] {
  const pnpm = join(directory, "pnpm-workspace.yaml");
  if (existsSync(pnpm)) return listInYaml(readFileSync(pnpm, "utf8"));
  try {
    const text = readFileSync(join(directory, "package.json"), "utf8");
    const { workspaces } = JSON.parse(text) as { workspaces?: unknown };
    const list = Array.isArray(workspaces) ? workspaces : (workspaces as { packages?: unknown } | undefined)?.packages;
    return Array.isArray(list) ? list.filter((pattern): pattern is string => typeof pattern === "string") : [];
  } catch {
    // no package.json, or one that the package manager reports as invalid
    return [];
  }
}

/** Reads the list `packages` of a pnpm-workspace.yaml, in block or flow style. */
function listInYaml(text: string): string[] {
  const block = /^packages:[ \t]*(?:\[([^\]]*)\]|\r?\n((?:[ \t]*(?:-.*|#.*)?\r?(?:\n|$))*))/m.exec(text);
  const items = block?.[1]?.split(",") ?? block?.[2]?.split("\n").map((line) => /^\s*-\s+(.*)$/.exec(line)?.[1] ?? "");
  return (items ?? [])
    .map((item) => /^\s*(?:"([^"]*)"|'([^']*)'|([^#]*?))\s*(?:#.*)?$/.exec(item.replace(/\r$/, "")))
    .map((found) => found?.[1] ?? found?.[2] ?? found?.[3] ?? "")
    .filter((item) => item !== "");
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern
    .replace(/^\.\//, "")
    .replace(/\/$/, "")
    .split(/(\*\*\/?|\*)/)
    .map((part) => {
      if (part === "*") return "[^/]+";
      if (part === "**/") return "(?:.+/)?";
      return part === "**" ? ".+" : part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&");
    });
  return new RegExp(`^${parts.join("")}$`);
}
