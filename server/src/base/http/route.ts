import type { Socket } from "node:net";

import type { Context, Hono } from "hono";
import { matchedRoutes } from "hono/route";
import type { z } from "zod";

import type { Permission } from "../auth/permissions.ts";
import type { Authenticator, AuditSink, Principal } from "../auth/principal.ts";
import { AppError, forbidden } from "../errors.ts";
import { type AuditKind, createAuditor } from "./audit-requests.ts";
import { type BodyGate, createBodyGate } from "./body-gate.ts";
import { boundedParse } from "./bounded-parse.ts";
import { clientIp } from "./client-ip.ts";
import { markKnown } from "./connection-guard.ts";
import type { ErrorStatus } from "./error-statuses.ts";
import { describeIssues, type ErrorFamily } from "./errors.ts";
import { type BodyLimits, holdBody, PUBLIC_BODY_BYTES } from "./hold-body.ts";
import { withInternalHeaders } from "./internal-headers.ts";
import { readJson } from "./json-body.ts";
import { endWhenRejected } from "./recheck-streams.ts";
import { validationIssues } from "./validation-issues.ts";

/** Schema of a JSON answer, or the name of another content type. */
export type Answer = z.ZodType | string;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Shape = z.ZodType | undefined;
type Infer<S> = S extends z.ZodType ? z.output<S> : undefined;

/**
 * Access rule: the required permission; `own` for routes of a program with its own credential, which `admits`
 * recognizes before the body is read; or `public` for routes that authenticate no caller. A route without a permission
 * does not compile, nor does a public one without a reason.
 */
type Access =
  | { permission: Permission; publicBecause?: never; admits?: never }
  | {
      permission: "own";
      publicBecause?: never;
      admits(principal: Principal, params: Record<string, string>): Promise<boolean>;
    }
  | { permission: "public"; publicBecause: string; admits?: never };

/** A declared endpoint. The OpenAPI document is generated from it, and `in` and `out` are enforced. */
export type Route<P extends Shape = Shape, Q extends Shape = Shape, B extends Shape = Shape> = Access &
  Endpoint<P, Q, B>;

interface Endpoint<P extends Shape, Q extends Shape, B extends Shape> {
  method: Method;
  /** Full literal path, with `:name` parameters. */
  path: string;
  /** Alternative paths, omitted from the document. */
  aliases?: string[];
  summary: string;
  tag: string;
  /**
   * `organization`: concerns the organization, so callers with several workspaces need not name one.
   * `principal.workspaceId` may then be the id of no workspace.
   */
  scope?: "organization";
  /**
   * Audit mode. `change` (the default except for GET and reading permissions): an entry that is durable before the
   * answer. `data`: traffic of runs, threads, store and traces, whose rows name their author; recorded only if
   * configured. `disclosure`: hands out secrets; recorded, before the answer is sent, if the handler calls
   * `disclosesSecrets`. `none`: changes nothing.
   */
  audit?: AuditKind;
  /** Body fields that describe the change, besides ids. Never a secret. */
  auditFields?: readonly string[];
  /** Target names whose values are credentials: only their first eight characters are logged. */
  auditHides?: readonly string[];
  params?: P;
  query?: Q;
  body?: B;
  /** Whether the handler needs the body's text too, of which it stores parts as they are (`bodyText`). */
  keepsText?: true;
  /** Headers that the handler reads itself; documentation only. */
  headers?: z.ZodType;
  /** Content types of a body that the handler reads itself; documentation only. */
  reads?: readonly string[];
  /** Largest body; default: 64 KiB on a `public` route, the space's limit elsewhere. */
  maxBodyBytes?: number;
  /** Whether the handler limits the body itself: it streams it to disk, or reads it through another gate. */
  streamsBody?: true;
  /** Response schemas by status; null: no body. Several when the caller chooses between content types. */
  out: Record<number, Answer | Answer[] | null>;
  /** Error statuses besides those implied by the rest of the declaration (`errorStatuses`). */
  errors?: readonly ErrorStatus[];
  /** Error format of this route, where it differs from the space's. */
  errorFamily?: ErrorFamily;
  handler(input: {
    params: Infer<P>;
    query: Infer<Q>;
    body: Infer<B>;
    c: Context;
    /** The authenticated caller. Throws on a `public` route, which authenticates none. */
    principal: Principal;
  }): Response | Promise<Response>;
}

/** Declares an endpoint; exists for type inference of the handler's input. */
export function route<P extends Shape = undefined, Q extends Shape = undefined, B extends Shape = undefined>(
  spec: Route<P, Q, B>,
): Route {
  return spec as unknown as Route;
}

/** Checks that a space applies before each route. */
export interface Guard {
  authenticator: Authenticator;
  audit: AuditSink;
  /** Whether routes with `audit: "data"` are recorded too. */
  auditsData: boolean;
  /** The workspace of a server that serves only one. */
  served?: () => Pick<Principal, "organizationId" | "workspaceId" | "plan">;
  /** Interval in milliseconds at which the key of an open stream is rechecked. */
  recheckMs?: number;
  /** Shared by all spaces of a process. */
  bodies?: BodyGate;
}

/** Default body limits. */
const LIMITS: BodyLimits = {
  maxBytes: 64 * 1024 * 1024,
  gate: createBodyGate({ bodyMemoryMb: 256, maxBodyBytes: 64 * 1024 * 1024 }),
};

export function mountRoutes(
  app: Hono,
  routes: Route[],
  guard: Guard,
  { gate, maxBytes, setting }: BodyLimits = LIMITS,
): void {
  for (const spec of routes) {
    const auditing = createAuditor(spec, guard);
    const isPublic = spec.permission === "public";
    const limit = {
      maxBytes: spec.maxBodyBytes ?? (isPublic ? PUBLIC_BODY_BYTES : maxBytes),
      ...(spec.maxBodyBytes === undefined && !isPublic && { setting }),
      isPublic,
      isJson: spec.body !== undefined,
      isLast: spec.body !== undefined,
    };
    for (const path of [spec.path, ...(spec.aliases ?? [])]) {
      app.on(spec.method, path, async (c) => {
        let principal: Principal | undefined;
        const audit = auditing(c, () => principal);
        if (spec.errorFamily) (c as Context).set("errorFamily", spec.errorFamily);
        let release: (() => void) | undefined;
        try {
          if (spec.permission !== "public") {
            principal = await recognize(guard.authenticator, c, spec.scope !== "organization");
            await checkAccess(spec, c, principal);
            markKnown(requestSocket(c));
          }
          if (!spec.streamsBody) {
            const holding = holdBody(c, gate, limit, principal?.workspaceId);
            release = holding instanceof Promise ? await holding : holding;
          }
          const params = spec.params ? check(spec.params, c.req.param(), "path") : undefined;
          const query = spec.query ? check(spec.query, readQuery(c), "query") : undefined;
          const body = spec.body ? check(spec.body, await readJson(c, spec.keepsText), "body") : undefined;
          const input = { params, query, body, c, principal: principal ?? noPrincipal };
          await audit.begins({ query, body });
          const response = await spec.handler(input as never);
          await audit.answered(response);
          if (principal) endWhenRejected(c, response, principal, () => askAgain(guard, c, spec), guard.recheckMs);
          return response;
        } catch (error) {
          audit.failed(error);
          throw error;
        } finally {
          release?.();
        }
      });
    }
  }
}

/** Authenticates the same caller again. @throws 401 or 403 when it would be rejected now */
async function askAgain(guard: Guard, c: Context, spec: Route): Promise<void> {
  const { method } = c.req;
  const socket = requestSocket(c);
  const credentials = {
    headers: credentialHeaders(c),
    method,
    ip: clientIp(c),
    socket,
    inProcess: isInProcess(c),
    path: c.req.path,
    needsWorkspace: spec.scope !== "organization",
  };
  await checkAccess(spec, c, await guard.authenticator.authenticate(credentials));
}

/** @throws 403 */
async function checkAccess(spec: Route, c: Context, principal: Principal): Promise<void> {
  if (spec.permission === "public") return;
  if (spec.permission === "own") {
    if (!(await spec.admits(principal, c.req.param() as Record<string, string>))) {
      throw forbidden("Forbidden: this route requires the credential of the program that it is for.");
    }
  } else if (!principal.permissions.has(spec.permission)) throw lacks(spec.permission);
}

const PRINCIPAL = "heddle.principal";

/** Binding of a request that a route sends to its own application, as the caller whom it has authenticated. */
export const CALLER = Symbol("heddle.caller");

/** Authenticates the caller, once per request. Throws 401 or 403. */
export async function recognize(authenticator: Authenticator, c: Context, needsWorkspace = true): Promise<Principal> {
  const known =
    (c.get(PRINCIPAL) as Principal | undefined) ?? (c.env as { [CALLER]?: Principal } | undefined)?.[CALLER];
  if (known) return known;
  const { method, raw } = c.req;
  const ip = clientIp(c);
  const socket = requestSocket(c);
  const authentication = authenticator.authenticate({
    headers: credentialHeaders(c),
    method,
    ip,
    socket,
    inProcess: isInProcess(c),
    path: c.req.path,
    request: raw,
    needsWorkspace,
  });
  const principal = await authentication;
  c.set(PRINCIPAL, principal);
  return principal;
}

/** Lets the request be authenticated again, because its headers have changed. */
export const forgetCaller = (c: Context): void => c.set(PRINCIPAL, undefined);

/**
 * Whether a route of the server, other than `except`, takes this request, by the router's own decision. Middleware is
 * registered for all methods, routes are not.
 */
export const takesRequest = (c: Context, except: ReadonlySet<object> = new Set()): boolean =>
  matchedRoutes(c).some((matched) => matched.method !== "ALL" && !except.has(matched));

/**
 * Returns the headers that identify the caller. `EventSource` of browsers cannot set headers, so its requests may name
 * the key in the query, as WebSockets do.
 */
function credentialHeaders(c: Context): Headers {
  const { method, raw } = c.req;
  const received = withInternalHeaders(c);
  if (method !== "GET" || !raw.url.includes("x-api-key=") || received.has("x-api-key")) return received;
  const key = c.req.query("x-api-key");
  if (key === undefined || !received.get("accept")?.includes("text/event-stream")) return received;
  const headers = new Headers(received);
  headers.set("x-api-key", key);
  return headers;
}

/** Bindings of a request that project code in this process sends; requests over the network have others. */
export const IN_PROCESS = { inProcess: true } as const;

const isInProcess = (c: Context): boolean => c.env === IN_PROCESS;

/** Returns the connection of a request, if it has one. */
const requestSocket = (c: Context): Socket | undefined =>
  (c.env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket;

const lacks = (permission: Permission): AppError => forbidden(`Forbidden: the permission ${permission} is required.`);

const noPrincipal = new Proxy({} as Principal, {
  get(_, name) {
    throw new Error(`a public route read the caller's ${String(name)}`);
  },
});

function check(schema: z.ZodType, value: unknown, where: string): unknown {
  const parsed = boundedParse(schema, value);
  if (parsed.success) return parsed.data;
  const issues = validationIssues(parsed.error, where, value);
  throw new AppError(422, `Invalid ${where}: ${describeIssues(parsed.error)}`, { issues });
}

function readQuery(c: Context): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(c.req.queries()).map(([key, all]) => [key, all.length > 1 ? all : all[0]!]));
}

/** Returns JSON text unparsed, as serialized by the database or a graph host. */
export function rawJson(text: JsonText, headers: Record<string, string> = {}, status = 200): Response {
  const body = typeof text === "string" || Buffer.isBuffer(text) ? (text as BodyInit) : inChunks(text);
  return new Response(body, { status, headers: { "Content-Type": "application/json", ...headers } });
}

/** JSON text, possibly in chunks that are written one after another, as the reader takes them. */
export type JsonText = string | Buffer | ChunkedText;

export interface ChunkedText {
  /** Length of the text in bytes. */
  readonly length: number;
  chunks(): Iterable<Buffer>;
  toString(): string;
}

function inChunks(text: ChunkedText): ReadableStream<Uint8Array> {
  const chunks = text.chunks()[Symbol.iterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { value, done } = chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 1 },
  );
}
