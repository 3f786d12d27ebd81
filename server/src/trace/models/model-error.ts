import { retryAfterMs } from "../../../../host-kit/src/retry-after.ts";
import { AppError } from "../../base/errors.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import { scrubSecrets } from "../../base/scrub-secrets.ts";
import { wellFormed } from "../../base/well-formed.ts";

const ERROR_KINDS = [
  "auth",
  "rate_limit",
  "bad_request",
  "not_found",
  "provider",
  "network",
  "timeout",
  "malformed",
  "blocked",
  "cancelled",
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Failure of a call to a model, as callers and traces see it: without credentials. */
export interface ModelFailure {
  kind: ErrorKind;
  /** HTTP status of the provider; null when it sent none. */
  status: number | null;
  message: string;
  retry_after_seconds: number | null;
}

/** Response of a provider with an error status, from a client that is ours. */
export class ProviderError extends Error {
  override name = "ProviderError";
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, body: string, headers: Headers) {
    super(messageIn(body) ?? body);
    this.status = status;
    this.headers = headers;
  }
}

/** Error of a provider's client after a response with an error status; not all clients keep status and headers. */
export class ProviderFailure extends Error {
  override name = "ProviderFailure";
  readonly status: number;
  readonly headers: Headers;

  constructor(cause: unknown, { status, headers }: Response) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.status = status;
    this.headers = headers;
  }
}

/** A response that ended before the provider said that it was complete. */
export class IncompleteResponse extends Error {
  override name = "IncompleteResponse";
}

/** Characters of a provider's own message. */
const MAX_MESSAGE = 1000;

/**
 * Describes an error of a call.
 * @param where names the connection: `the connection "Azure" (Azure OpenAI)`
 * @param values secrets of the call, which are removed from the text whatever their form
 */
export function describeFailure(
  error: unknown,
  { where, values, reason }: { where: string; values: Iterable<string>; reason?: "timeout" | "cancelled" | undefined },
): ModelFailure {
  const found = classify(error, reason);
  let detail = found.detail.trim();
  for (const value of values) if (value.length >= 4) detail = detail.replaceAll(value, "…");
  detail = wellFormed(scrubSecrets(detail.slice(0, 8 * MAX_MESSAGE)).slice(0, MAX_MESSAGE));
  const status = found.status === undefined ? "" : ` with status ${found.status}`;
  const lead = {
    auth: `The provider of ${where} rejected the credentials${status}. Check the workspace secret and its rights`,
    rate_limit: `The provider of ${where} limits the rate of requests${status}. Try again later`,
    bad_request: `The provider of ${where} rejected the request${status}`,
    not_found: `The provider of ${where} does not know the model or the URL${status}`,
    provider: `The provider of ${where} failed${status}. Try again later`,
    network: `The provider of ${where} cannot be reached`,
    timeout: `The provider of ${where} took too long`,
    malformed: `The provider of ${where} sent an invalid response`,
    blocked: `The URL of ${where} is not permitted`,
    cancelled: `The call to ${where} was cancelled`,
  }[found.kind];
  return {
    kind: found.kind,
    status: found.status ?? null,
    message: detail === "" ? `${lead}.` : `${lead}: ${detail}`,
    retry_after_seconds: found.kind === "rate_limit" ? retryAfter(error) : null,
  };
}

interface Found {
  kind: ErrorKind;
  status?: number;
  detail: string;
}

function classify(error: unknown, reason: "timeout" | "cancelled" | undefined): Found {
  if (reason === "cancelled") return { kind: "cancelled", detail: "" };
  const outbound = findCause(error, (each) => each instanceof OutboundError) as OutboundError | undefined;
  if (outbound) {
    const kinds = {
      bad_url: "blocked",
      blocked: "blocked",
      redirect: "network",
      timeout: "timeout",
      too_large: "malformed",
      network: "network",
    } as const;
    return { kind: kinds[outbound.reason], detail: outbound.message };
  }
  if (reason === "timeout") return { kind: "timeout", detail: "" };
  const status = statusOf(error);
  const detail = detailOf(error);
  if (status !== undefined && status >= 400) return { kind: byStatus(status), status, detail };
  if (findCause(error, (each) => each instanceof AppError)) return { kind: "bad_request", detail };
  const named = KINDS_BY_CODE.find(([pattern]) => pattern.test(`${(error as Error).name} ${codeOf(error)}`));
  return { kind: named?.[1] ?? "malformed", detail };
}

/** Errors within a stream that began with status 200, by the names that providers give them. */
const KINDS_BY_CODE: [RegExp, ErrorKind][] = [
  [/rate_limit|throttl|quota|overloaded/i, "rate_limit"],
  [/auth|permission|accessdenied/i, "auth"],
  [/server_error|api_error|internal|unavailable|modelstream/i, "provider"],
  [/invalid_request|validation/i, "bad_request"],
];

function byStatus(status: number): ErrorKind {
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "not_found";
  if (status === 408) return "timeout";
  if (status === 429 || status === 529) return "rate_limit";
  return status >= 500 ? "provider" : "bad_request";
}

/** Returns the first of an error and its causes that passes. */
function findCause(error: unknown, passes: (each: unknown) => boolean): unknown {
  let each: unknown = error;
  for (let depth = 0; depth < 8 && each !== null && typeof each === "object"; depth++) {
    if (passes(each)) return each;
    each = (each as { cause?: unknown }).cause;
  }
  return undefined;
}

function statusOf(error: unknown): number | undefined {
  const at = findCause(error, (each) => numberIn(each) !== undefined);
  return numberIn(at);
}

function numberIn(error: unknown): number | undefined {
  const { status, statusCode, status_code, $metadata } = (error ?? {}) as {
    status?: unknown;
    statusCode?: unknown;
    status_code?: unknown;
    $metadata?: { httpStatusCode?: unknown };
  };
  return [status, statusCode, status_code, $metadata?.httpStatusCode].find(
    (value): value is number => typeof value === "number" && value >= 100 && value < 600,
  );
}

function codeOf(error: unknown): string {
  const { code, type, error: inner } = (error ?? {}) as { code?: unknown; type?: unknown; error?: unknown };
  const nested = inner !== null && typeof inner === "object" ? ` ${codeOf(inner)}` : "";
  return `${typeof code === "string" ? code : ""} ${typeof type === "string" ? type : ""}${nested}`;
}

function detailOf(error: unknown): string {
  const { message = "", body } = (error ?? {}) as { message?: unknown; body?: unknown };
  const text = typeof message === "string" ? message : "";
  const own = messageIn(typeof body === "string" ? body : text.slice(text.indexOf("{")));
  return own ?? text;
}

/** Returns the message in a provider's JSON error. */
function messageIn(text: string): string | undefined {
  try {
    const parsed = JSON.parse(text) as unknown;
    const [first] = [parsed].flat() as Record<string, unknown>[];
    const error = first?.["error"];
    const found =
      typeof error === "string" ? error : ((error as { message?: unknown } | undefined)?.message ?? first?.["message"]);
    return typeof found === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds until the provider accepts requests again, at most an hour. */
function retryAfter(error: unknown): number | null {
  const at = findCause(error, (each) => headersOf(each) !== undefined);
  const ms = retryAfterMs(headersOf(at)?.("retry-after"));
  return ms === undefined ? null : Math.min(Math.ceil(ms / 1000), 3600);
}

function headersOf(error: unknown): ((name: string) => string | null) | undefined {
  const { headers, $response } = (error ?? {}) as { headers?: unknown; $response?: { headers?: unknown } };
  const found = headers ?? $response?.headers;
  if (found instanceof Headers) return (name) => found.get(name);
  if (found === null || typeof found !== "object") return undefined;
  return (name) => {
    const value = (found as Record<string, unknown>)[name];
    return typeof value === "string" ? value : null;
  };
}
