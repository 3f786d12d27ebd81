import { readFile } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";

import { parse as parseEnv } from "dotenv";
import { z } from "zod";

import { ConfigError } from "../../base/config/options.ts";

const graphSpec = z.union([z.string(), z.object({ path: z.string(), description: z.string().nullish() }).loose()]);

/** The part of langgraph.json that the agent server reads today (contract §18). Unknown keys are left alone. */
const langgraphJson = z
  .object({
    graphs: z.record(z.string(), graphSpec),
    env: z.union([z.string(), z.record(z.string(), z.coerce.string()), z.array(z.string())]).optional(),
    node_version: z.union([z.string(), z.number()]).optional(),
    dependencies: z.array(z.string()).optional(),
  })
  .loose();

export interface GraphSpec {
  /** `file:export`, relative to the project. */
  path: string;
  description: string | null;
}

/** A LangGraph project on disk. */
export interface Project {
  dir: string;
  configFile: string;
  graphs: Record<string, GraphSpec>;
  /** Variables for the graph hosts, from `env` of langgraph.json. */
  env: Record<string, string>;
  /** Things that a developer should know and that stop nothing. */
  warnings: string[];
}

/** Keys of langgraph.json that change what a server does and that this one does not act on yet. */
const NOT_BUILT = ["auth", "http", "store", "checkpointer", "ui", "webhooks", "encryption"];

/** Reads and checks a langgraph.json. Errors say what is wrong with which key, and how it should look. */
export async function readProject(file: string): Promise<Project> {
  const configFile = resolve(file);
  const dir = dirname(configFile);
  let text: string;
  try {
    text = await readFile(configFile, "utf8");
  } catch (error) {
    throw new ConfigError(
      `There is no ${configFile} (${(error as NodeJS.ErrnoException).code}). It should look like ` +
        `{"graphs": {"agent": "./src/agent.ts:graph"}}.`,
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${configFile} is not valid JSON: ${(error as Error).message}`);
  }
  const parsed = langgraphJson.safeParse(json);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join(".") || "the file"}: ${issue.message}`);
    throw new ConfigError(`${configFile}: ${issues.join("; ")}`);
  }
  const config = parsed.data;
  const graphs: Record<string, GraphSpec> = {};
  for (const [id, spec] of Object.entries(config.graphs)) {
    const { path, description } = typeof spec === "string" ? { path: spec, description: null } : spec;
    graphs[id] = { path, description: description ?? null };
  }
  const warnings = NOT_BUILT.filter((key) => key in config).map(
    (key) => `"${key}" in ${configFile} is not supported yet and has no effect.`,
  );
  warnings.push(...nodeVersionWarnings(config.node_version));
  return { dir, configFile, graphs, env: await readEnv(config.env, dir), warnings };
}

function nodeVersionWarnings(wanted: string | number | undefined): string[] {
  const major = process.versions.node.split(".")[0]!;
  if (wanted === undefined || String(wanted) === major) return [];
  return [`The project asks for Node ${wanted}, this is Node ${process.versions.node}.`];
}

/** `env`: a file in dotenv format, a map, or names that are passed on from the environment. */
async function readEnv(
  env: string | Record<string, string> | string[] | undefined,
  dir: string,
): Promise<Record<string, string>> {
  if (env === undefined || Array.isArray(env)) return {};
  if (typeof env !== "string") return env;
  const file = resolve(dir, env);
  try {
    return parseEnv(await readFile(file));
  } catch (error) {
    throw new ConfigError(`"env" names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

export const isPython = (spec: GraphSpec): boolean => extname(spec.path.replace(/:[^:/\\]*$/, "")) === ".py";
