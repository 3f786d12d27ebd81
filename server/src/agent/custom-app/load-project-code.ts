import { loadAuthHandlers } from "../custom-auth/auth-handlers.ts";
import { undecidedEvents } from "../custom-auth/events.ts";
import type { AgentDeps } from "../deps.ts";
import type { Project } from "../project/read-project.ts";
import { loadCustomApp } from "./load-custom-app.ts";

/** Loads the project code that runs in the server. Throws and changes nothing when a part cannot be loaded. */
export async function loadProjectCode(
  deps: Pick<AgentDeps, "access" | "customApp" | "python" | "ui" | "log">,
  project: Project,
): Promise<void> {
  const handlers = await loadAuthHandlers(project, deps.python);
  const app = await loadCustomApp(project);
  await deps.ui.configure(project);
  deps.customApp = app;
  deps.access.handlers = handlers;
  const open = handlers ? undecidedEvents(handlers.callbacks) : [];
  if (open.length > 0) {
    deps.log.warn(
      { open },
      `auth.path: no handler covers ${open.join(", ")}. Every authenticated caller may perform these on all ` +
        'resources. Add handlers, or .on("*", () => false) to deny events without one.',
    );
  }
}
