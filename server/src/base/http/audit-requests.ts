import type { Context } from "hono";

import { isReading, type Permission } from "../auth/permissions.ts";
import type { AnnouncedChange, AuditSink, Principal } from "../auth/principal.ts";
import { AppError } from "../errors.ts";
import { clientIp } from "./client-ip.ts";

export type AuditKind = "change" | "data" | "disclosure" | "none";

const DISCLOSED = "heddle.disclosed";

/** Marks the answer of a route with `audit: "disclosure"` as one that contains secrets of these objects. */
export const disclosesSecrets = (c: Context, target: Record<string, string>): void => c.set(DISCLOSED, target);

/** Parts of a route's declaration that the audit depends on. */
interface Declared {
  method: string;
  path: string;
  permission: Permission | "own" | "public";
  audit?: AuditKind;
  auditFields?: readonly string[];
  auditHides?: readonly string[];
}

/** Parsed query and body of a request. */
export interface ValidatedInput {
  query: unknown;
  body: unknown;
}

/** Audit of one request. */
export interface RequestAudit {
  /**
   * Called before the request is handled; it may change something once this has resolved. Rejects when nothing can be
   * written.
   */
  begins(input: ValidatedInput): Promise<void>;
  /** Called with the response. Resolves when the line is durable; rejects when it could not be written. */
  answered(response: Response): Promise<void>;
  /** Called when the request was rejected or failed. A handler that failed may already have changed something. */
  failed(error: unknown): void;
}

/** @returns a factory of each request's audit; the caller may be identified later. */
export function createAuditor(
  spec: Declared,
  guard: { audit: AuditSink; auditsData: boolean },
): (c: Context, caller: () => Principal | undefined) => RequestAudit {
  const reads =
    spec.method === "GET" || (spec.permission !== "public" && spec.permission !== "own" && isReading(spec.permission));
  const kind = spec.audit ?? (reads ? "none" : "change");
  const recorded = kind === "change" || (kind === "data" && guard.auditsData);
  return (c, caller) => {
    let input: ValidatedInput = { query: undefined, body: undefined };
    let announced: AnnouncedChange | undefined;
    const auditEntry = (target: Record<string, string>) => ({
      principal: caller() ?? null,
      ip: clientIp(c),
      operation: `${spec.method} ${spec.path}`,
      requestId: c.get("requestId") as string | undefined,
      target: hidden(target, spec.auditHides ?? []),
    });
    return {
      async begins(parsed) {
        input = parsed;
        if (kind !== "change" || !caller()) return;
        announced = await guard.audit.announce(auditEntry(auditTarget(spec, c, input)));
      },
      async answered(response) {
        const disclosed = kind === "disclosure" ? (c.get(DISCLOSED) as Record<string, string> | undefined) : undefined;
        if (!(recorded || disclosed) || !caller()) return;
        if (!response.ok) return announced?.withdraw();
        const target =
          kind === "change"
            ? { ...auditTarget(spec, c, input), ...(await madeBy(spec, response)) }
            : { ...c.req.param(), ...disclosed };
        await (announced ?? guard.audit).record({ ...auditEntry(target), status: response.status });
      },
      failed(error) {
        if (kind === "none" || spec.permission === "public") return;
        const status = error instanceof AppError ? error.status : 500;
        const rejected = status === 401 || status === 403;
        const broke = status >= 500 && kind === "change";
        if (!broke) announced?.withdraw();
        if (!rejected && !broke) return;
        const sink = broke && announced ? announced : guard.audit;
        // not awaited: the sink logs write failures, and the response is an error already
        sink.record({ ...auditEntry(c.req.param()), status }).catch(() => {});
      },
    };
  };
}

/**
 * Names the target of a change: the path's parameters, and fields of the query and the body. Of a body, only ids and
 * the fields that the route declares, as it may hold secrets.
 */
function auditTarget(spec: Declared, c: Context, { query, body }: ValidatedInput): Record<string, string> {
  const isNamed = (name: string) => ID_FIELD.test(name) || spec.auditFields?.includes(name) === true;
  return { ...pickTexts(body, isNamed), ...pickTexts(query, () => true), ...c.req.param() };
}

/** Returns the id of a created resource, when the response has one. */
async function madeBy(spec: Declared, response: Response): Promise<Record<string, string>> {
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (!isJson || spec.method !== "POST") return {};
  const body = (await response.clone().json()) as Record<string, unknown> | null;
  // `id`, or the collection's: `assistant_id` in the response of POST /assistants
  const collection = spec.path.split("/").findLast((part) => part !== "" && !part.startsWith(":")) ?? "";
  const createdIds: Record<string, string> = {};
  for (const name of ["id", `${collection.replace(/s$/, "").replaceAll("-", "_")}_id`]) {
    if (typeof body?.[name] === "string") createdIds[name] = body[name];
  }
  return createdIds;
}

function hidden(target: Record<string, string>, names: readonly string[]): Record<string, string> {
  if (names.length === 0) return target;
  const hide = ([name, value]: [string, string]) => [name, names.includes(name) ? `${value.slice(0, 8)}…` : value];
  return Object.fromEntries(Object.entries(target).map(hide)) as Record<string, string>;
}

/** Matches `session_id`, `trace_ids`. */
const ID_FIELD = /(^|_)ids?$/;
/** Most elements of a list, to bound the length of a log line. */
const MOST_NAMED = 250;

/** Returns the named fields, with lists joined by commas. Other than text and lists of text is omitted. */
function pickTexts(fields: unknown, isNamed: (name: string) => boolean): Record<string, string> {
  const texts: Record<string, string> = {};
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return texts;
  for (const [name, value] of Object.entries(fields)) {
    if (!isNamed(name)) continue;
    const all: unknown[] = Array.isArray(value) ? value : [value];
    const list = all.filter((item) => typeof item === "string");
    if (list.length === 0 || list.length < all.length) continue;
    const more = list.length > MOST_NAMED ? `,… ${list.length} in total` : "";
    texts[name] = list.slice(0, MOST_NAMED).join(",") + more;
  }
  return texts;
}
