/** Finds a project's LangGraph and explains why a version cannot be served, before any of its code is loaded. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

import { isOlder } from "./is-older.ts";

/** Oldest version that graph hosts can load. */
const OLDEST = "0.2.57";
/** Packages of the oldest supported line, which old projects need fewest changes for. */
const OLDEST_LINE = "@langchain/langgraph@0.2 @langchain/core@0.3";
const CURRENT_LINE = "@langchain/langgraph @langchain/core";

export interface ProjectPackages {
  /** File from whose directory the project's packages are resolved. */
  from: string;
  /** Installed version of LangGraph; undefined where there is none. */
  version: string | undefined;
}

/**
 * Finds LangGraph beside langgraph.json, or else beside a graph: in a workspace whose packages are not hoisted, only
 * the package with the graphs contains it.
 * @param graphs files of the graphs, relative to `dir`
 */
export function findPackages(dir: string, graphs: string[]): ProjectPackages {
  const beside = join(dir, "langgraph.json");
  for (const from of [beside, ...graphs.map((graph) => resolve(dir, graph))]) {
    const version = installedVersion(from);
    if (version !== undefined) return { from, version };
  }
  return { from: beside, version: undefined };
}

function installedVersion(from: string): string | undefined {
  try {
    const file = createRequire(from).resolve("@langchain/langgraph/package.json");
    return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** Returns why the project's graphs cannot be loaded with the packages found, and the command to run; else undefined. */
export function packagesProblem({ from, version }: ProjectPackages): string | undefined {
  if (version !== undefined) {
    if (!isOlder(version, OLDEST)) return undefined;
    const where = packageDirectory(from);
    const command = addCommand(where, OLDEST_LINE);
    return `langgraph ${version} is not supported, needs ${OLDEST} or newer. Run in ${where}:\n  ${command}`;
  }
  const where = packageDirectory(from);
  const plugAndPlay = plugAndPlayRoot(where);
  if (plugAndPlay !== undefined) {
    return (
      `${plugAndPlay} uses Yarn Plug'n'Play, which is not supported: Heddle resolves packages from node_modules. ` +
      `Run there:\n  yarn config set nodeLinker node-modules && yarn install`
    );
  }
  if (listsLangGraph(where)) {
    return `The packages of ${where} are not installed. Run there:\n  ${managerOf(where)} install`;
  }
  return `${where} has no @langchain/langgraph. Install it there:\n  ${addCommand(where, CURRENT_LINE)}`;
}

/** Returns the nearest directory with a package.json, at or above a file. */
function packageDirectory(file: string): string {
  for (let dir = dirname(file); ; dir = dirname(dir)) {
    if (existsSync(join(dir, "package.json"))) return dir;
    if (dir === dirname(dir)) return dirname(file);
  }
}

/** Returns the nearest directory, at or above `dir`, whose packages Yarn has left in its archives. */
function plugAndPlayRoot(dir: string): string | undefined {
  for (let at = dir; ; at = dirname(at)) {
    if (existsSync(join(at, ".pnp.cjs"))) return at;
    if (existsSync(join(at, "node_modules")) || at === dirname(at)) return undefined;
  }
}

function listsLangGraph(dir: string): boolean {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as {
      dependencies?: object;
      devDependencies?: object;
    };
    return "@langchain/langgraph" in { ...dependencies, ...devDependencies };
  } catch {
    return false;
  }
}

const LOCKS = { "yarn.lock": "yarn", "pnpm-lock.yaml": "pnpm", "bun.lock": "bun", "bun.lockb": "bun" };

/** Returns the package manager whose lock file is nearest; npm without one. */
function managerOf(dir: string): string {
  for (let at = dir; ; at = dirname(at)) {
    for (const [lock, manager] of Object.entries(LOCKS)) if (existsSync(join(at, lock))) return manager;
    if (existsSync(join(at, "package-lock.json")) || at === dirname(at)) return "npm";
  }
}

function addCommand(dir: string, packages: string): string {
  const manager = managerOf(dir);
  return `${manager} ${manager === "npm" ? "install" : "add"} ${packages}`;
}
