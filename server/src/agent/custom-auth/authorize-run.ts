import type { AccessCondition, Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import { systemAssistantId } from "../project/assistant-id.ts";
import type { AgentDeps } from "../deps.ts";
import { toAuthUser } from "./access.ts";
import { isAssistantPermitted } from "./sql.ts";

type Deps = Pick<AgentDeps, "sql" | "access" | "project">;

/**
 * Whether the project's own rules let the caller use an assistant. Default assistants are open to all: they hold no
 * configuration, and `threads:create_run` decides who may run graphs. Other assistants are open to callers that may
 * read them, because a run's output reveals their configuration.
 */
export async function mayUseAssistant(deps: Deps, principal: Principal | null, assistantId: string): Promise<boolean> {
  if (!deps.access.isOn || principal === null) return true;
  if (Object.keys(deps.project.graphs).some((id) => systemAssistantId(id) === assistantId)) return true;
  try {
    const sees = await deps.access.ask(principal, "assistants:read", { assistant_id: assistantId, metadata: {} });
    return sees.length === 0 || (await isAssistantPermitted(deps.sql, assistantId, sees));
  } catch (error) {
    if (error instanceof AppError && error.status === 403) return false;
    throw error;
  }
}

/** The new run as handlers see it; `metadata` and `kwargs` are stored as handlers leave them. */
export interface ProposedRun {
  thread_id: string | null;
  assistant_id: string;
  run_id: string;
  status: "pending";
  metadata: Record<string, unknown>;
  prevent_insert_if_inflight: boolean;
  multitask_strategy: string;
  if_not_exists: "reject" | "create";
  after_seconds: number;
  kwargs: Record<string, unknown>;
  [more: string]: unknown;
}

/**
 * Calls the project's handler for `threads:create_run`, which may change the run. Throws its rejection.
 * @returns conditions that the run's thread must meet if it exists already
 */
export async function authorizeRun(
  { access }: Deps,
  principal: Principal | null,
  run: ProposedRun,
): Promise<readonly AccessCondition[]> {
  return access.ask(principal, "threads:create_run", run);
}

/**
 * Keys of `configurable` that the server alone sets. The user of a run that resumes another one is that
 * one's, and its caller's are the last two: users.sql decides when the run begins.
 */
const USER_KEYS = [
  "langgraph_auth_user",
  "langgraph_auth_user_id",
  "langgraph_auth_permissions",
  "heddle_answering_user",
  "heddle_answering_user_id",
];

/** Sets the caller's identity in a run's `configurable`. */
export function setAuthUser(
  { access }: Pick<AgentDeps, "access">,
  principal: Principal | null,
  configurable: Record<string, unknown>,
): void {
  for (const key of USER_KEYS) delete configurable[key];
  if (!access.isOn || principal === null) return;
  const user = toAuthUser(principal);
  configurable["langgraph_auth_user"] = user;
  configurable["langgraph_auth_user_id"] = user.identity;
  configurable["langgraph_auth_permissions"] = user.permissions;
}
