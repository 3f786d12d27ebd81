import type { Hono } from "hono";

import { ConfigError } from "../../base/config/options.ts";
import { languageOf } from "../../base/graph-language.ts";
import { loadExport } from "../project/load-export.ts";
import type { Project } from "../project/read-project.ts";

/** The part of a Hono app that is used here. The project's copy and version of Hono may differ from the server's. */
export type CustomApp = Pick<Hono, "fetch" | "routes">;

/**
 * Loads `http.app` of langgraph.json.
 * @throws ConfigError when it cannot be loaded or is not a Hono app
 */
export async function loadCustomApp(project: Project): Promise<CustomApp | null> {
  const path = project.config.http.app;
  // a Python app runs in a separate process
  if (path === undefined || languageOf(path) === "python") return null;
  const app = (await loadExport(project, path, "http.app")) as Partial<CustomApp>;
  if (typeof app.fetch !== "function" || !Array.isArray(app.routes)) {
    throw new ConfigError(
      `http.app: ${path} is not a Hono app. Export an instance of Hono (npm install hono) with your routes.`,
    );
  }
  return app as CustomApp;
}
