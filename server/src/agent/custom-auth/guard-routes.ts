/**
 * Applies the project's own rules (`agent-route.ts`) before the agent server's routes: calls the handlers, lets them
 * change what is stored, and checks that the object named by the path meets their conditions. Conditions that a
 * statement has to apply itself are in `principal.sees`.
 */
import type { Context } from "hono";
import { z } from "zod";

import type { AccessCondition, Principal } from "../../base/auth/principal.ts";
import { type AppError, conflict, forbidden, notFound } from "../../base/errors.ts";
import { SSE_HEADERS, sseFrame } from "../../base/events/sse.ts";
import type { Route } from "../../base/http/route.ts";
import { isUuid, uuid7 } from "../../base/ids.ts";
import { resolveAssistantId } from "../project/assistant-id.ts";
import type { AgentDeps } from "../deps.ts";
import type { Auth, AuthRule } from "./agent-route.ts";
import { isAssistantPermitted, isCronPermitted, isPermitted, isThreadPermitted, selectThreadOfRun } from "./sql.ts";

type Deps = Pick<AgentDeps, "sql" | "access" | "project">;
type Fields = Record<string, unknown>;

interface Input {
  params: Record<string, string>;
  query: Fields | undefined;
  body: Fields | undefined;
  c: Context;
  principal: Principal;
}

/** Route as it is guarded. One that is neither public nor declares its rules is forbidden to the project's users. */
export type GuardedRoute = Route & { auth?: Auth };

export function guardRoutes(deps: Deps, routes: GuardedRoute[]): GuardedRoute[] {
  return routes.map((route) => {
    if (route.permission === "public") return route;
    const { auth } = route;
    const handle = route.handler as unknown as (input: Input) => Response | Promise<Response>;
    const handler = async (input: Input): Promise<Response> => {
      if (!deps.access.isOn || auth === "handler") return handle(input);
      if (!auth)
        throw forbidden("Forbidden: this route is not available to users of the project's own authentication.");
      let guarded = input;
      for (const rule of [auth].flat()) {
        const next = await applyRule(deps, route, rule, guarded);
        if (next instanceof Response) return next;
        guarded = next;
      }
      return handle(guarded);
    };
    return { ...route, handler: handler as unknown as Route["handler"] };
  });
}

/** @returns the request as the rule leaves it, or the response */
async function applyRule(deps: Deps, route: Route, rule: AuthRule, input: Input): Promise<Input | Response> {
  const from = route.body ? "body" : "query";
  const fields = input[from] ?? {};
  const value: Fields = {};
  for (const name of rule.params ?? []) value[name] = input.params[name];
  for (const [shown, field] of pairs(rule)) value[shown] = fields[field];
  // handlers write into it without checking that it exists
  if ("metadata" in value) value["metadata"] ??= {};
  if (rule.newId) value[rule.newId] ??= uuid7();
  const threadId = rule.subject === "run" ? await selectThreadOfRun(deps.sql, input.params["run_id"]!) : undefined;
  if (rule.subject === "run") value["thread_id"] = threadId ?? null;

  const sees = await deps.access.ask(input.principal, rule.event, value);
  if (sees.length > 0 && !(await isVisible(deps, rule, input, threadId, sees))) {
    if (rule.hidden === "frame") return missingStream();
    throw hiddenError(rule, input);
  }
  const changed = Object.fromEntries(pairs(rule).map(([shown, field]) => [field, value[shown]]));
  const guarded = { ...input, principal: { ...input.principal, sees } };
  return rule.fields ? { ...guarded, [from]: { ...fields, ...recheck(route, changed) } } : guarded;
}

const pairs = ({ fields = [] }: AuthRule) =>
  fields.map((field) => (typeof field === "string" ? ([field, field] as const) : field));

const NAMESPACES = new Set(["namespace", "namespace_prefix", "prefix"]);
/**
 * Namespace as handlers may change it. They prefix identities, which may be e-mail addresses: with periods, which
 * callers may not send.
 */
const anyNamespace = z.array(z.string().min(1)).nullable();

/**
 * Validates the fields that handlers may change, as if a caller had sent them. Fields that handlers do not see are
 * skipped: their schemas have transformed them already and would reject the result.
 */
function recheck(route: Route, fields: Fields): Fields {
  const shape = (route.body as z.ZodObject | undefined)?.shape;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const parsed = NAMESPACES.has(name)
        ? z.safeParse(anyNamespace, value)
        : shape?.[name]
          ? z.safeParse(shape[name], value)
          : { success: true as const, data: value };
      if (!parsed.success) throw new Error(`an auth handler made "${name}" invalid: ${parsed.error.message}`);
      return [[name, parsed.data]];
    }),
  );
}

async function isVisible(
  { sql, access, project }: Deps,
  rule: AuthRule,
  { params }: Input,
  threadOfRun: string | undefined,
  sees: readonly AccessCondition[],
): Promise<boolean> {
  switch (rule.subject) {
    case "thread": {
      const id = params["thread_id"]!;
      return isUuid(id) && isThreadPermitted(sql, id, sees);
    }
    case "run": {
      if (threadOfRun !== undefined) return isThreadPermitted(sql, threadOfRun, sees);
      // a stateless run's row is deleted when it ends, but its output can be read a while longer
      const metadata = access.statelessRuns.get(params["run_id"]!);
      return metadata !== undefined && isPermitted(sql, metadata, sees);
    }
    case "assistant": {
      const id = resolveAssistantId(project, params["assistant_id"]!);
      return id !== undefined && isAssistantPermitted(sql, id, sees);
    }
    case "cron":
      return isCronPermitted(sql, params["cron_id"]!, sees);
    default:
      return true;
  }
}

function hiddenError(rule: AuthRule, { params }: Input): AppError {
  if (rule.hidden === "conflict") return conflict("Thread not found");
  if (rule.hidden === "run") return notFound("Run not found");
  if (rule.subject === "assistant") return notFound("Assistant not found");
  if (rule.subject === "cron") return notFound("Cron not found");
  return notFound(`Thread with ID ${params["thread_id"]} not found`);
}

function missingStream(): Response {
  const error = JSON.stringify({ error: "Error", message: "404: Thread not found" });
  return new Response(sseFrame(0, "error", error) as BodyInit, { headers: SSE_HEADERS });
}
