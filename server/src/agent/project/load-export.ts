/**
 * Loads project code that runs in the server: its HTTP app, auth handlers and embedding function. The modules are
 * imported from the project, with its packages, by tsx, and each time in a new namespace: a changed project is read
 * again, and TypeScript works however the server was started.
 */
import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { ConfigError } from "../../base/config/options.ts";
import type { Project } from "./read-project.ts";

/** Limit for a module that never finishes loading, so that the start fails with a message. */
const LOAD_LIMIT_MS = 60_000;

/**
 * Returns the value that `file:export` names; without a name, the default export.
 * @param key the key of langgraph.json that names it, for messages
 * @throws ConfigError when there is no such file or export, or the module throws
 */
export async function loadExport(
  project: Pick<Project, "dir" | "env" | "imported">,
  path: string,
  key: string,
): Promise<unknown> {
  const { file, name } = splitPath(path);
  const source = resolve(project.dir, file);
  await access(source).catch(() => {
    throw new ConfigError(`${key}: there is no file ${source}. Paths are relative to langgraph.json.`);
  });
  provideEnvironment(project.env);
  const module = await withinLimit(importFresh(source, project.imported), key, path);
  const inner = module["default"] as Record<string, unknown> | undefined;
  let value = module[name];
  // a CommonJS module may have all its names on the default export
  if (value === undefined && typeof inner === "object" && inner !== null) value = inner[name];
  value = await value;
  if (value !== undefined && value !== null) return value;
  const names = Object.keys(module).filter((key) => key !== "__esModule" && key !== "module.exports");
  throw new ConfigError(`${key}: ${file} has no export "${name}". It exports: ${names.join(", ") || "nothing"}.`);
}

/** Splits `file:export`. The colon of a Windows drive letter does not count. */
function splitPath(path: string): { file: string; name: string } {
  const colon = path.lastIndexOf(":");
  if (colon <= 1) return { file: path, name: "default" };
  return { file: path.slice(0, colon), name: path.slice(colon + 1) || "default" };
}

async function importFresh(source: string, imported: Set<string>): Promise<Record<string, unknown>> {
  const { tsImport } = await import("tsx/esm/api");
  const url = pathToFileURL(source).href;
  // also called for modules that the code imports later
  const onImport = (module: string) => {
    if (module.startsWith("file:")) imported.add(fileURLToPath(module.replace(/[?#].*$/s, "")));
  };
  try {
    return (await tsImport(url, { parentURL: url, onImport })) as Record<string, unknown>;
  } finally {
    // modules in CommonJS that others require are not reported
    for (const key of Object.keys(createRequire(import.meta.url).cache)) imported.add(key.replace(NAMESPACE, ""));
  }
}

/** What tsx appends to a file's path in the cache of CommonJS. Names of directories may contain any of its characters. */
const NAMESPACE = /\?[^/\\]*$/;

/** Sets the project's variables where the server's environment lacks them, as in graph hosts. */
export function provideEnvironment(env: Record<string, string>): void {
  for (const [name, value] of Object.entries(env)) process.env[name] ??= value;
}

async function withinLimit<T>(loading: Promise<T>, key: string, path: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const why =
      `${key}: ${path} was still loading after ${LOAD_LIMIT_MS / 1000} s. Check whether it waits for ` +
      "something at the top level.";
    timer = setTimeout(() => reject(new ConfigError(why)), LOAD_LIMIT_MS);
  });
  try {
    return await Promise.race([loading, late]);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${key}: ${path} could not be loaded: ${(error as Error)?.stack ?? String(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
