/**
 * The project's own auth rules: calls its `on` handlers and translates their answers into conditions.
 */
import type { AccessCondition, Principal } from "../../base/auth/principal.ts";
import { AppError, forbidden } from "../../base/errors.ts";
import type { AuthHandlers, AuthUser } from "./auth-user.ts";
import { ALL, toConditions } from "./conditions.ts";
import type { Event } from "./events.ts";

/** Limit of stateless runs whose metadata is kept: their rows are deleted when they end, their output stays a while. */
const REMEMBERED_RUNS = 10_000;

export class Access {
  /** Null where the project has none. Replaced when the project is reloaded. */
  handlers: AuthHandlers | null = null;
  /** Metadata of this server's stateless runs, by run id. */
  readonly statelessRuns = new Map<string, object>();

  rememberRun(runId: string, metadata: object): void {
    if (!this.isOn) return;
    // a Map keeps insertion order, so the first key is the oldest
    if (this.statelessRuns.size >= REMEMBERED_RUNS) this.statelessRuns.delete(this.statelessRuns.keys().next().value!);
    this.statelessRuns.set(runId, metadata);
  }

  /** Whether the project defines auth rules. */
  get isOn(): boolean {
    return this.handlers !== null;
  }

  /**
   * Calls the handler that matches the event most closely. The handler may change `value`.
   * @param principal null: the server itself, which is allowed everything
   * @returns conditions that objects must meet; empty for all objects
   * @throws AppError 403, or what the handler throws; Error for an invalid answer
   */
  async ask(
    principal: Principal | null,
    event: Event,
    value: Record<string, unknown>,
  ): Promise<readonly AccessCondition[]> {
    if (principal === null || this.handlers === null) return ALL;
    const [resource, action] = event.split(":") as [string, string];
    const { callbacks } = this.handlers;
    const handler = callbacks[event] ?? callbacks[resource] ?? callbacks[`*:${action}`] ?? callbacks["*"];
    if (!handler) return ALL;
    const user = toAuthUser(principal);
    let result: unknown;
    try {
      result = await handler({ event, resource, action, value, permissions: user.permissions, user });
    } catch (error) {
      throw asAppError(error);
    }
    if (result === null || result === undefined || result === true) return ALL;
    if (result === false) throw forbidden("Forbidden");
    if (typeof result !== "object" || Array.isArray(result)) {
      throw new Error(`the auth handler for ${event} returned ${JSON.stringify(result)}`);
    }
    return toConditions(result);
  }
}

/** User object passed to handlers and graphs: the key's holder where the project has no `authenticate`. */
export function toAuthUser({ user, actor }: Principal): AuthUser {
  if (user) return user as AuthUser;
  const identity = actor.userId ?? (actor.id || actor.kind);
  return { identity, display_name: actor.name, is_authenticated: true, permissions: [], kind: actor.kind };
}

/**
 * Converts an `HTTPException` of the project's copy of the SDK, or of Hono, recognized by its status. Anything else is
 * a bug in the project's code.
 */
export function asAppError(thrown: unknown): unknown {
  const { status, message, headers } = (thrown ?? {}) as { status?: unknown; message?: string; headers?: unknown };
  if (thrown instanceof AppError || typeof status !== "number" || status < 400 || status > 599) return thrown;
  const sent = headers === undefined || headers === null ? {} : Object.fromEntries(new Headers(headers as HeadersInit));
  return new AppError(status, message ?? "", { headers: sent });
}
