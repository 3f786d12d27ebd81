import { z } from "zod";

import { deleteAssistant } from "../assistants/delete-assistant.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { forbidden } from "../../base/errors.ts";
import { deleteThread } from "../threads/delete-thread.ts";
import {
  deleteAllCheckpoints,
  deleteAllItems,
  deleteFinishedRuns,
  selectOtherAssistants,
  selectSomeThreads,
} from "./sql.ts";

const choice = z.boolean().nullish();
const body = z.object({ runs: choice, threads: choice, assistants: choice, checkpointer: choice, store: choice });

const PERMISSIONS = ["runs:create", "threads:write", "assistants:write", "store:write"] as const;

/**
 * Deletion of everything of a kind, which the test suites of LangGraph's servers call before they begin. Served only with
 * HEDDLE_INTERNAL_TRUNCATE.
 */
export function truncateRoutes(deps: AgentDeps): AgentRoute[] {
  if (!deps.settings.internalTruncate) return [];
  const { sql } = deps;
  return [
    agentRoute({
      tag: "System",
      method: "POST",
      path: "/internal/truncate",
      permission: "threads:write",
      audit: "data",
      auth: "handler",
      summary: "Delete all threads, runs, assistants, checkpoints or store items, for test suites",
      body,
      out: { 200: z.object({ ok: z.literal(true) }) },
      async handler({ body: all, c, principal }) {
        // users of the project's own authentication own only a part of the data
        if (deps.access.isOn || PERMISSIONS.some((permission) => !principal.permissions.has(permission))) {
          throw forbidden(`Forbidden: the permissions ${PERMISSIONS.join(", ")} are required.`);
        }
        if (all.threads) {
          for (let ids = await selectSomeThreads(sql); ids.length > 0; ids = await selectSomeThreads(sql)) {
            for (const id of ids) await deleteThread(deps, id);
          }
        }
        if (all.runs) await deleteFinishedRuns(sql);
        if (all.checkpointer) await deleteAllCheckpoints(sql);
        if (all.store) await deleteAllItems(sql);
        if (all.assistants) {
          for (const id of await selectOtherAssistants(sql, Object.keys(deps.project.graphs))) {
            await deleteAssistant(deps, null, id, false);
          }
        }
        return c.json({ ok: true as const });
      },
    }),
  ];
}
