import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { parse as parseEnv } from "dotenv";

import { ConfigError } from "../../base/config/options.ts";
import { describeIssues } from "../../base/http/errors.ts";
import type { WebhookRules } from "../../base/webhooks/check-webhook.ts";
import { isolatedGraphs } from "./hosts-config.ts";
import { checkQueueGraphs } from "./queue-config.ts";
import { readWebhookRules } from "./webhook-config.ts";
import { keyWarnings, rejectedKeys } from "./key-notes.ts";
import { langgraphJson, type ProjectConfig } from "./schema.ts";

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
  /** Graphs each of whose runs executes alone in a host. */
  isolated: ReadonlySet<string>;
  /** Variables for the graph hosts and the project's code in the server, from `env` of langgraph.json. */
  env: Record<string, string>;
  /** The whole langgraph.json, validated and with defaults. */
  config: ProjectConfig;
  /** Its `webhooks` section, with the environment filled in. */
  webhooks: WebhookRules;
  /** Files that the server has loaded of the project's code; grows. */
  imported: Set<string>;
  /** Problems that a developer should know and that do not prevent the start. */
  warnings: string[];
}

/** Reads and validates a langgraph.json. Errors name the key, the problem and the expected form. */
export async function readProject(file: string, environment = process.env): Promise<Project> {
  const configFile = resolve(file);
  const dir = dirname(configFile);
  let text: string;
  try {
    text = await readFile(configFile, "utf8");
  } catch (error) {
    throw new ConfigError(
      `Cannot read ${configFile} (${(error as NodeJS.ErrnoException).code}). A minimal one is {"graphs": ` +
        '{"agent": "./src/agent.ts:graph"}}.',
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
    throw new ConfigError(`${configFile}: ${describeIssues(parsed.error, "the file")}`);
  }
  const config = parsed.data;
  const rejected = rejectedKeys(config);
  if (rejected.length > 0) throw new ConfigError(`${configFile}: ${rejected.join("; ")}.`);
  const graphs: Record<string, GraphSpec> = {};
  for (const [id, spec] of Object.entries(config.graphs)) {
    const { path, description } = typeof spec === "string" ? { path: spec, description: null } : spec;
    graphs[id] = { path, description: description ?? null };
  }
  const warnings = [...keyWarnings(config, configFile), ...nodeVersionWarnings(config.node_version)];
  if (Array.isArray(config.env)) {
    const missing = config.env.filter((name) => environment[name] === undefined);
    if (missing.length > 0)
      warnings.push(`"env" in ${configFile} names variables that are not set: ${missing.join(", ")}.`);
  }
  const env = await readEnv(config.env, dir);
  const variables = { ...env, ...environment };
  const webhooks = inFile(configFile, () => readWebhookRules(config.webhooks, config.http.disable_webhooks, variables));
  const isolated = inFile(configFile, () =>
    isolatedGraphs(Object.keys(graphs), config.heddle?.hosts?.isolated ?? false, variables["BG_JOB_ISOLATED_LOOPS"]),
  );
  inFile(configFile, () => checkQueueGraphs(Object.keys(graphs), config.heddle?.queue));
  return { dir, configFile, graphs, isolated, env, config, webhooks, imported: new Set(), warnings };
}

/** Adds the file's name to errors in it. */
function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${file}: ${error.message}.`) : error;
  }
}

function nodeVersionWarnings(version: string | number | undefined): string[] {
  const major = Number(process.versions.node.split(".")[0]);
  // the version of a build's image; a newer one runs the project, too
  if (version === undefined || Number.parseInt(String(version), 10) <= major) return [];
  return [`The project requires Node ${version}, but this is Node ${process.versions.node}.`];
}

/** Reads `env`: a file in dotenv format, a map, or names passed on from the environment. */
async function readEnv(env: ProjectConfig["env"], dir: string): Promise<Record<string, string>> {
  if (env === undefined || Array.isArray(env)) return {};
  if (typeof env !== "string") {
    return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
  }
  const file = resolve(dir, env);
  try {
    return parseEnv(await readFile(file));
  } catch (error) {
    throw new ConfigError(`"env" names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
