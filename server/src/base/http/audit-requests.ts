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
}

/** What becomes of a request in the audit log. */
export interface RequestAudit {
  /** It was answered. Resolves when the line is durable; rejects when it could not be written. */
  answered(c: Context, principal: Principal | undefined, response: Response): Promise<void>;
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
    target,
  });
  return {
    async answered(c, principal, response) {
      if (!recorded || !principal || !response.ok) return;
      const target = kind === "change" ? await targetOf(spec, c, response) : c.req.param();
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

/** What was changed: the path's parameters, and the id of what is new where the answer tells it. */
async function targetOf(spec: Declared, c: Context, response: Response): Promise<Record<string, string>> {
  const target: Record<string, string> = { ...c.req.param() };
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
