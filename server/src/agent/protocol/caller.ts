import type { Permission } from "../../base/auth/permissions.ts";
import type { AccessCondition, Principal } from "../../base/auth/principal.ts";
import { isThreadPermitted } from "../custom-auth/sql.ts";
import type { AgentDeps } from "../deps.ts";
import type { Once } from "../idempotency/once.ts";
import { threadExists } from "../threads/sql.ts";
import { ProtocolError } from "./protocol-error.ts";

/** Who asks about which thread: one HTTP request, or one WebSocket. */
export class Caller {
  readonly threadId: string;
  readonly principal: Principal;
  readonly headers: Headers;
  /** The request names itself: sent again, a command that starts a run gets the run that it has. */
  once: Once | undefined;
  readonly #deps: Pick<AgentDeps, "sql">;
  readonly #sees: readonly AccessCondition[];
  /** The thread is there, and the project's own rules show it to the caller. */
  #seen: boolean;

  private constructor(
    deps: Pick<AgentDeps, "sql">,
    threadId: string,
    principal: Principal,
    headers: Headers,
    sees: readonly AccessCondition[],
  ) {
    this.#deps = deps;
    this.threadId = threadId;
    this.principal = principal;
    this.headers = headers;
    this.#sees = sees;
    this.#seen = sees.length === 0;
  }

  /** @throws AppError 403 when the project's own rules let the caller read no threads */
  static async of(
    deps: Pick<AgentDeps, "sql" | "access">,
    threadId: string,
    principal: Principal,
    headers: Headers,
  ): Promise<Caller> {
    const sees = await deps.access.ask(principal, "threads:read", { thread_id: threadId });
    return new Caller(deps, threadId, principal, headers, sees);
  }

  /**
   * False for somebody else's thread. One that there is not yet may be anybody's, so it is asked again once there is
   * something to see.
   */
  async maySee(): Promise<boolean> {
    if (this.#seen) return true;
    this.#seen = await isThreadPermitted(this.#deps.sql, this.threadId, this.#sees);
    return this.#seen || !(await threadExists(this.#deps.sql, this.threadId));
  }

  /** The connection needs `runs:read`; what starts or reads more asks for more. */
  demand(permission: Permission): void {
    if (this.principal.permissions.has(permission)) return;
    throw new ProtocolError("permission_denied", `Forbidden: this needs the permission ${permission}.`);
  }
}
