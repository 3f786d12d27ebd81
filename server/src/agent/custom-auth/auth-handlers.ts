/**
 * What `auth.path` of langgraph.json exports: an `Auth` of `@langchain/langgraph-sdk/auth`, or whatever has its
 * shape, for the project's copy of that package is not ours (contract agent-server §16.1).
 */
import { ConfigError } from "../../base/config/options.ts";
import { loadExport } from "../project/load-export.ts";
import type { Project } from "../project/read-project.ts";
import { isEventName } from "./events.ts";

/** Whom `authenticate` found, with all that it returned. */
export interface AuthUser {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [more: string]: unknown;
}

export interface HandlerInput {
  event: string;
  resource: string;
  action: string;
  /** What the request asks for; what a handler changes in it counts. */
  value: Record<string, unknown>;
  permissions: string[];
  user: AuthUser;
}

export interface AuthHandlers {
  authenticate: ((request: Request) => unknown) | undefined;
  /** By `resource:action`, `resource`, `*:action` or `*`. */
  callbacks: Record<string, (input: HandlerInput) => unknown>;
}

/** @throws ConfigError when the module cannot be loaded or exports something else */
export async function loadAuthHandlers(project: Project): Promise<AuthHandlers | null> {
  const path = project.config.auth?.path;
  if (path === undefined) return null;
  const exported = (await loadExport(project, path, "auth.path")) as Record<string, unknown>;
  const cache = exported["~handlerCache"] as Partial<AuthHandlers> | undefined;
  if (cache === null || typeof cache !== "object") {
    throw new ConfigError(`auth.path: ${path} is not an Auth of @langchain/langgraph-sdk/auth.`);
  }
  const { authenticate, callbacks = {} } = cache;
  // a handler for an event that never comes would protect nothing
  for (const name of Object.keys(callbacks)) {
    if (!isEventName(name)) throw new ConfigError(`auth.path: ${path} has a handler for "${name}", which is no event.`);
  }
  return { authenticate, callbacks };
}
