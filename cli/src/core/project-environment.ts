import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

import { parse } from "dotenv";

import { UsageError } from "./flags.ts";

/** Returns a project's environment: `env` of langgraph.json, or .env beside it. Empty values are omitted. */
export function projectEnvironment(config: string): Record<string, string> {
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
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
}

function readFile(directory: string, named: string | undefined): Record<string, string> {
  const file = resolve(directory, named ?? ".env");
  if (relative(directory, file).startsWith(".."))
    throw new UsageError(`"env" names ${file}, which is outside the project.`);
  if (existsSync(file)) return parse(readFileSync(file, "utf8"));
  return {};
}
