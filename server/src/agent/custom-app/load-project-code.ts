import { loadAuthHandlers } from "../custom-auth/auth-handlers.ts";
import type { AgentDeps } from "../deps.ts";
import type { Project } from "../project/read-project.ts";
import { loadCustomApp } from "./load-custom-app.ts";

/** Loads what of the project runs in the server. Nothing changes where a part cannot be loaded: it throws. */
export async function loadProjectCode(
  deps: Pick<AgentDeps, "access" | "customApp" | "ui">,
  project: Project,
): Promise<void> {
  const handlers = await loadAuthHandlers(project);
  const app = await loadCustomApp(project);
  await deps.ui.configure(project);
  deps.customApp = app;
  deps.access.handlers = handlers;
}
