import type { Context } from "hono";

import { isReading, type Permission } from "../auth/permissions.ts";
import type { AuditSink, Principal } from "../auth/principal.ts";
import { AppError } from "../errors.ts";
import { clientIp } from "./client-ip.ts";

/** What a route declares that matters here. */
interface Declared {
  method: string;
  path: string;
  permission: Permission | "public";
  audit?: "change" | "data" | "none";
  auditFields?: readonly string[];
  auditHides?: readonly string[];
}

/** Query and body of a request, as they were parsed. */
export interface Asked {
  query: unknown;
  body: unknown;
}

/** What becomes of a request in the audit log. */
export interface RequestAudit {
  /** It was answered. Resolves when the line is durable; rejects when it could not be written. */
  answered(c: Context, principal: Principal | undefined, response: Response, asked: Asked): Promise<void>;
  /** It was refused, or broke: a handler that broke may have changed something before. */
  failed(c: Context, principal: Principal | undefined, error: unknown): void;
}

export function auditOf(spec: Declared, guard: { audit: AuditSink; auditsData: boolean }): RequestAudit {
  const reads = spec.method === "GET" || (spec.permission !== "public" && isReading(spec.permission));
  const kind = spec.audit ?? (reads ? "none" : "change");
  const recorded = kind === "change" || (kind === "data" && guard.auditsData);
  const entryOf = (c: Context, principal: Principal | undefined, status: number, target: Record<string, string>) => ({
    principal: principal ?? null,
    ip: clientIp(c),
    operation: `${spec.method} ${spec.path}`,
    requestId: c.get("requestId") as string | undefined,
    status,
    target: hidden(target, spec.auditHides ?? []),
  });
  return {
    async answered(c, principal, response, asked) {
      if (!recorded || !principal || !response.ok) return;
      const target = kind === "change" ? await targetOf(spec, c, response, asked) : c.req.param();
      await guard.audit.record(entryOf(c, principal, response.status, target));
    },
    failed(c, principal, error) {
      if (kind === "none" || spec.permission === "public") return;
      const status = error instanceof AppError ? error.status : 500;
      const refused = status === 401 || status === 403;
      if (!refused && !(status >= 500 && kind === "change")) return;
      // nobody waits for it: the sink logs what it cannot write, and the answer is an error already
      guard.audit.record(entryOf(c, principal, status, c.req.param())).catch(() => {});
    },
  };
}

/**
 * What was changed: the path's parameters, what the query and the body name, and the id of what is new where the
 * answer tells it. Of a body these are its ids and what the route declares, for it may hold secrets.
 */
async function targetOf(
  spec: Declared,
  c: Context,
  response: Response,
  { query, body: sent }: Asked,
): Promise<Record<string, string>> {
  const isNamed = (name: string) => ID_FIELD.test(name) || spec.auditFields?.includes(name) === true;
  const target = { ...textsOf(sent, isNamed), ...textsOf(query, () => true), ...c.req.param() };
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (!isJson || spec.method !== "POST") return target;
  const body = (await response.clone().json()) as Record<string, unknown> | null;
  // `id`, or the collection's: `assistant_id` in the answer of POST /assistants
  const collection = spec.path.split("/").findLast((part) => part !== "" && !part.startsWith(":")) ?? "";
  for (const name of ["id", `${collection.replace(/s$/, "").replaceAll("-", "_")}_id`]) {
    if (typeof body?.[name] === "string") target[name] = body[name];
  }
  return target;
}

function hidden(target: Record<string, string>, names: readonly string[]): Record<string, string> {
  if (names.length === 0) return target;
  const hide = ([name, value]: [string, string]) => [name, names.includes(name) ? `${value.slice(0, 8)}…` : value];
  return Object.fromEntries(Object.entries(target).map(hide)) as Record<string, string>;
}

/** `session_id`, `trace_ids`. */
const ID_FIELD = /(^|_)ids?$/;
/** Of a list, so that a line of the log stays one. */
const MOST_NAMED = 250;

/** Its fields of that name, lists with commas between; what is neither text nor a list of texts is left out. */
function textsOf(fields: unknown, isNamed: (name: string) => boolean): Record<string, string> {
  const texts: Record<string, string> = {};
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return texts;
  for (const [name, value] of Object.entries(fields)) {
    if (!isNamed(name)) continue;
    const all: unknown[] = Array.isArray(value) ? value : [value];
    const list = all.filter((one) => typeof one === "string");
    if (list.length === 0 || list.length < all.length) continue;
    const more = list.length > MOST_NAMED ? `,… ${list.length} in all` : "";
    texts[name] = list.slice(0, MOST_NAMED).join(",") + more;
  }
  return texts;
}
