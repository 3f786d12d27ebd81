/**
 * The export named by `auth.path` of langgraph.json: an `Auth` of `@langchain/langgraph-sdk/auth`, recognized by its
 * shape, because the project has its own copy of that package.
 */
import { ConfigError } from "../../base/config/options.ts";
import { loadExport } from "../project/load-export.ts";
import { languageOf } from "../../base/graph-language.ts";
import type { Project } from "../project/read-project.ts";
import type { PythonCode } from "../python-code/python-code.ts";
import type { AuthHandlers } from "./auth-user.ts";
import { isEventName } from "./events.ts";
import { pythonAuth } from "./python-auth.ts";

/** @throws ConfigError when the module cannot be loaded or exports something else */
export async function loadAuthHandlers(project: Project, python: PythonCode): Promise<AuthHandlers | null> {
  const path = project.config.auth?.path;
  if (path === undefined) return null;
  if (languageOf(path) === "python") return checked(pythonAuth(python)!, path);
  const exported = (await loadExport(project, path, "auth.path")) as Record<string, unknown>;
  const cache = exported["~handlerCache"] as Partial<AuthHandlers> | undefined;
  if (cache === null || typeof cache !== "object") {
    throw new ConfigError(`auth.path: ${path} is not an instance of Auth from @langchain/langgraph-sdk/auth.`);
  }
  const { authenticate, callbacks = {} } = cache;
  return checked({ authenticate, callbacks }, path);
}

function checked(handlers: AuthHandlers, path: string): AuthHandlers {
  // a handler for an unknown event would protect nothing
  for (const name of Object.keys(handlers.callbacks)) {
    if (!isEventName(name))
      throw new ConfigError(`auth.path: ${path} has a handler for "${name}", which is not an event.`);
  }
  return handlers;
}
