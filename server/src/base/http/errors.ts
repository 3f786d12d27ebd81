import { STATUS_CODES } from "node:http";

import type { Context, ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";

import { databaseUnavailable, isDatabaseUnavailable } from "../db/retry.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import { type Shortage, shortageIn } from "../shortage.ts";

/** `text`: the bare message, which the JavaScript client quotes. `detail`: `{"detail": message}`. */
export type ErrorMode = "text" | "detail";

/**
 * `error`: `{"error": message}`. `problem`: RFC 9457. Contract trace-platform §0.3. `validation`: `detail`, which for
 * 422 is a list of issues (HTTPValidationError of FastAPI). `python`: `detail` with the statuses of
 * LangGraph's Python server.
 */
export type ErrorFamily = "error" | "problem" | "validation" | "python";

/** A format, or its choice by the request. */
export type ErrorFormat = ErrorMode | ErrorFamily | ((c: Context) => ErrorMode | ErrorFamily);

export const formatFor = (format: ErrorFormat, c: Context): ErrorMode | ErrorFamily =>
  typeof format === "function" ? format(c) : format;

/**
 * Converts thrown errors to responses; nothing else does. `onShortage` is called for a full disk and similar shortages.
 */
export function errorHandler(format: ErrorFormat, log: Log, onShortage?: (shortage: Shortage) => void): ErrorHandler {
  return (thrown, c) => {
    const shortage = shortageIn(thrown);
    if (shortage) onShortage?.(shortage);
    const error = hasLeft(c, thrown) ? new AppError(400, INCOMPLETE) : translate(thrown);
    if (error.status >= 500) {
      const request = {
        method: c.req.method,
        path: loggedPath(c),
        requestId: c.get("requestId") as string | undefined,
      };
      // deliberate load shedding, and the failure of another server: no stack trace
      const isSaid = thrown instanceof AppError && [502, 503].includes(thrown.status) && thrown.cause === undefined;
      if (isSaid || shortage)
        log.warn({ reason: error.message, ...request }, "request rejected: the server or a dependency is not ready");
      else log.error({ err: thrown, ...request }, "request failed");
    }
    const family = c.get("errorFamily") as ErrorFamily | undefined;
    return errorResponse(family ?? formatFor(format, c), error, c.req.path);
  };
}

export const INCOMPLETE = "The request body did not arrive completely.";

/** Whether a body could not be read because the client has disconnected: it is no fault, and the answer has no reader. */
function hasLeft(c: Context, thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown };
  return c.req.raw.signal.aborted && (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE");
}

/** Returns the path without credentials, such as the token of a feedback link. */
function loggedPath(c: Context): string {
  const params = Object.entries(c.req.param() as Record<string, string>);
  const secrets = params.filter(([name]) => /token|secret/.test(name)).map(([, value]) => value);
  return secrets.reduce((path, secret) => path.replaceAll(secret, "…"), c.req.path);
}

export function errorResponse(mode: ErrorMode | ErrorFamily, error: AppError, path?: string): Response {
  const init = { status: error.status, headers: error.headers };
  if (mode === "problem") {
    const title = STATUS_CODES[error.status] ?? "Error";
    const problem = { type: "about:blank", title, status: error.status, detail: error.message };
    return new Response(JSON.stringify({ ...problem, ...(path !== undefined && { instance: path }) }), {
      ...init,
      headers: { "Content-Type": "application/problem+json", ...error.headers },
    });
  }
  if (mode === "validation") {
    // a body that is not JSON is reported as a validation issue
    if (error.status !== 422 && !error.issues) return Response.json({ detail: error.message }, init);
    const detail = error.issues ?? [{ type: "value_error", loc: ["body"], msg: `Value error, ${error.message}` }];
    return Response.json({ detail }, { ...init, status: 422 });
  }
  if (mode === "error") {
    const { message, code } = error;
    return Response.json({ error: code ?? message, ...(code !== undefined && { message }) }, init);
  }
  if (mode === "detail" || mode === "python") {
    const { message, code } = error;
    const body = { detail: message, ...(code !== undefined && { error: code, message }) };
    return Response.json(body, mode === "python" ? { ...init, status: error.pythonStatus } : init);
  }
  return new Response(error.message, {
    ...init,
    headers: { "Content-Type": "text/plain;charset=UTF-8", ...error.headers },
  });
}

/** Describes the bodies of `errorResponse` for the OpenAPI document. */
export function errorContent(mode: ErrorMode | ErrorFamily, status?: number): Record<string, unknown> {
  if (mode === "validation") {
    const text = { type: "string" };
    const loc = { type: "array", items: { anyOf: [text, { type: "integer" }] } };
    const issue = { type: "object", properties: { loc, msg: text, type: text }, required: ["loc", "msg", "type"] };
    const detail = status === 422 ? { type: "array", items: issue } : text;
    return { "application/json": { schema: { type: "object", properties: { detail }, required: ["detail"] } } };
  }
  if (mode === "problem") {
    const text = { type: "string" };
    const properties = { type: text, title: text, status: { type: "integer" }, detail: text, instance: text };
    const required = ["type", "title", "status", "detail"];
    return { "application/problem+json": { schema: { type: "object", properties, required } } };
  }
  if (mode === "text") return { "text/plain": { schema: { type: "string" } } };
  const name = mode === "error" ? "error" : "detail";
  const properties = { [name]: { type: "string" } };
  return { "application/json": { schema: { type: "object", properties, required: [name] } } };
}

/** Seconds. A shortage ends when an operator acts, or when other requests end. */
const SHORTAGE_RETRY = "5";

/** Translates any thrown value to the error that the caller sees. */
export function translate(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof z.ZodError) return new AppError(422, describeIssues(thrown));
  if (thrown instanceof HTTPException) return new AppError(thrown.status, thrown.message || "Bad Request");
  const shortage = shortageIn(thrown);
  if (shortage) {
    return new AppError(503, shortage.message, { headers: { "Retry-After": SHORTAGE_RETRY }, cause: thrown });
  }
  if (isDatabaseUnavailable(thrown)) return databaseUnavailable(thrown);
  // SQLSTATE class 22, data exception: a value that Postgres cannot hold, such as a number out of range
  const code = (thrown as { code?: unknown } | null)?.code;
  if (typeof code === "string" && /^22.{3}$/.test(code)) {
    return new AppError(422, `The request contains a value that cannot be stored: ${(thrown as Error).message}`);
  }
  return new AppError(500, "Internal Server Error", { cause: thrown });
}

/** Issues that an answer names: a body may have as many as values. */
export const MAX_ISSUES = 20;
const MAX_MESSAGE = 1000;

/**
 * Formats issues as `limit: expected number, received string; metadata.x: …; name: is missing`.
 * @param whole name of the value as a whole
 */
export function describeIssues(error: z.ZodError, whole = "body"): string {
  const issues = error.issues
    .slice(0, MAX_ISSUES)
    .flatMap((issue) => meantBy(issue))
    .slice(0, MAX_ISSUES)
    .map((issue) => `${cut(issue.path.join(".")) || whole}: ${isMissing(issue) ? "is missing" : cut(issue.message)}`);
  const more = error.issues.length - MAX_ISSUES;
  return issues.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** Bounds a message or a name, which may be as long as the body. */
export const cut = (text: string): string => (text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)}…`);

type Issue = z.core.$ZodIssue;

/**
 * Explains a failed union by the issues of the closest alternative, and an invalid key by its own issue; zod itself
 * reports only "Invalid input".
 */
function meantBy(issue: Issue): Issue[] {
  if (issue.code === "invalid_key") return [{ ...issue, message: issue.issues[0]?.message ?? issue.message }];
  // a schema's own message says more than its alternatives
  if (issue.code !== "invalid_union" || issue.message !== "Invalid input") return [issue];
  const shapes = issue.errors.map((errors) => errors.flatMap((error) => meantBy(error)));
  const nearest = shapes.find((issues) => issues.length > 0 && !issues.some((issue) => isOtherType(issue)));
  if (nearest) return nearest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
  const types = shapes.flatMap((issues) => issues.flatMap((issue) => (isOtherType(issue) ? issue.expected : [])));
  if (types.length === 0) return [issue];
  return [{ ...issue, message: `Invalid input: expected ${[...new Set(types)].join(" or ")}` }];
}

/** zod names a missing value only in its message. */
const isMissing = (issue: Issue): boolean =>
  issue.code === "invalid_type" && issue.path.length > 0 && issue.message.endsWith("received undefined");

/** Whether the value as a whole has another type. */
const isOtherType = (issue: Issue): issue is z.core.$ZodIssueInvalidType =>
  issue.code === "invalid_type" && issue.path.length === 0;
