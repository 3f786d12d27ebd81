import type { Context } from "hono";

import type { Permission } from "../../base/auth/permissions.ts";
import type { AccessCondition, Principal } from "../../base/auth/principal.ts";
import { isThreadPermitted } from "../custom-auth/sql.ts";
import type { AgentDeps } from "../deps.ts";
import type { IdempotentRequest } from "../idempotency/idempotent-request.ts";
import { threadExists } from "../runs/sql.ts";
import { ProtocolError } from "./protocol-error.ts";

/** The caller of one HTTP request or one WebSocket, and the thread it addresses. */
export class Caller {
  readonly threadId: string;
  readonly principal: Principal;
  readonly c: Context;
  /**
   * The request's Idempotency-Key. When the request is repeated, a command that starts a run returns the existing run.
   */
  once: IdempotentRequest | undefined;
  readonly #deps: Pick<AgentDeps, "sql">;
  readonly #sees: readonly AccessCondition[];
  /** Whether the thread exists and the project's own rules show it to the caller. */
  #seen: boolean;

  private constructor(
    deps: Pick<AgentDeps, "sql">,
    threadId: string,
    principal: Principal,
    c: Context,
    sees: readonly AccessCondition[],
  ) {
    this.#deps = deps;
    this.threadId = threadId;
    this.principal = principal;
    this.c = c;
    this.#sees = sees;
    this.#seen = sees.length === 0;
  }

  /** @throws AppError 403 when the project's own rules let the caller read no threads */
  static async of(
    deps: Pick<AgentDeps, "sql" | "access">,
    threadId: string,
    principal: Principal,
    c: Context,
  ): Promise<Caller> {
    const sees = await deps.access.ask(principal, "threads:read", { thread_id: threadId });
    return new Caller(deps, threadId, principal, c, sees);
  }

  get headers(): Headers {
    return this.c.req.raw.headers;
  }

  /**
   * False for another user's thread. A thread that does not exist yet may become anyone's, so it is checked again once
   * there are events to read.
   */
  async maySee(): Promise<boolean> {
    if (this.#seen) return true;
    this.#seen = await isThreadPermitted(this.#deps.sql, this.threadId, this.#sees);
    return this.#seen || !(await threadExists(this.#deps.sql, this.threadId));
  }

  /** Requires a permission beyond `runs:read`, which the connection itself needs. */
  demand(permission: Permission): void {
    if (this.principal.permissions.has(permission)) return;
    throw new ProtocolError("permission_denied", `Forbidden: the permission ${permission} is required.`);
  }
}
