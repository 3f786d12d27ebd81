/**
 * The export named by `auth.path` of langgraph.json: an `Auth` of `@langchain/langgraph-sdk/auth`, recognized by its
 * shape, because the project has its own copy of that package (contract agent-server §16.1).
 */
import { ConfigError } from "../../base/config/options.ts";
import { loadExport } from "../project/load-export.ts";
import type { Project } from "../project/read-project.ts";
import { isEventName } from "./events.ts";

/** The user returned by `authenticate`, with all its fields. */
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
  /** The request's fields; a handler's changes to them take effect. */
  value: Record<string, unknown>;
  permissions: string[];
  user: AuthUser;
}

export interface AuthHandlers {
  authenticate: ((request: Request) => unknown) | undefined;
  /** Handlers by `resource:action`, `resource`, `*:action` or `*`. */
  callbacks: Record<string, (input: HandlerInput) => unknown>;
}

/** @throws ConfigError when the module cannot be loaded or exports something else */
export async function loadAuthHandlers(project: Project): Promise<AuthHandlers | null> {
  const path = project.config.auth?.path;
  if (path === undefined) return null;
  const exported = (await loadExport(project, path, "auth.path")) as Record<string, unknown>;
  const cache = exported["~handlerCache"] as Partial<AuthHandlers> | undefined;
  if (cache === null || typeof cache !== "object") {
    throw new ConfigError(`auth.path: ${path} is not an instance of Auth from @langchain/langgraph-sdk/auth.`);
  }
  const { authenticate, callbacks = {} } = cache;
  // a handler for an unknown event would protect nothing
  for (const name of Object.keys(callbacks)) {
    if (!isEventName(name))
      throw new ConfigError(`auth.path: ${path} has a handler for "${name}", which is not an event.`);
  }
  return { authenticate, callbacks };
}
