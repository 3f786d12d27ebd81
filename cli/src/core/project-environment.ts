import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

import { parse } from "dotenv";

import { UsageError } from "./flags.ts";

/**
 * Returns a project's environment: `env` of langgraph.json, or .env beside it. Empty values are omitted. Where `env` is a
 * list of names, only these, from the caller's own environment or from .env.
 */
export function projectEnvironment(
  config: string,
  own: Record<string, string | undefined> = process.env,
): Record<string, string> {
  const directory = dirname(config);
  let json: { env?: unknown };
  try {
    json = JSON.parse(readFileSync(config, "utf8")) as typeof json;
  } catch (error) {
    throw new UsageError(`${config} is not valid JSON: ${(error as Error).message}`);
  }
  const { env } = json;
  const variables =
    env !== null && typeof env === "object" && !Array.isArray(env)
      ? Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]))
      : readFile(directory, typeof env === "string" ? env : undefined);
  if (Array.isArray(env)) {
    const named = env.map((name) => [String(name), own[String(name)] ?? variables[String(name)] ?? ""] as const);
    return Object.fromEntries(named.filter(([, value]) => value !== ""));
  }
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
}

/** Returns the variables of a file that was named on the command line. */
export function fileEnvironment(file: string): Record<string, string> {
  const path = resolve(file);
  if (!existsSync(path) || !statSync(path).isFile()) throw new UsageError(`--env-file: there is no file ${path}.`);
  return parse(readFileSync(path, "utf8"));
}

/**
 * Applies `NAME=VALUE` of the command line to variables. `NAME` alone takes the value of the caller's own environment,
 * and `NAME=` removes the variable.
 */
export function withVariables(
  variables: Record<string, string>,
  given: readonly string[],
  own: Record<string, string | undefined>,
): Record<string, string> {
  const changed = new Map(Object.entries(variables));
  for (const text of given) {
    const at = text.indexOf("=");
    const name = at === -1 ? text : text.slice(0, at);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new UsageError(`--env must be NAME=VALUE, not "${text}".`);
    const value = at === -1 ? own[name] : text.slice(at + 1);
    if (value === undefined) throw new UsageError(`--env ${name}: this variable is not set here. Use ${name}=VALUE.`);
    if (value === "") changed.delete(name);
    else changed.set(name, value);
  }
  return Object.fromEntries(changed);
}

function readFile(directory: string, named: string | undefined): Record<string, string> {
  const file = resolve(directory, named ?? ".env");
  if (relative(directory, file).startsWith(".."))
    throw new UsageError(`"env" names ${file}, which is outside the project.`);
  if (existsSync(file)) return parse(readFileSync(file, "utf8"));
  return {};
}
