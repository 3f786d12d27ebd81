/** One issue of a request: its location, as `["body", "source"]`, a message and a type. */
export interface ValidationIssue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/**
 * Application error. Verbs throw it, and only `base/http/errors.ts` turns it into a response. `status` is an HTTP
 * status; 4xx for mistakes of the caller, because clients re-send after any 5xx.
 */
export class AppError extends Error {
  readonly status: number;
  /** Status for callers of LangGraph's Python server, where it is another one. */
  readonly pythonStatus: number;
  readonly headers: Record<string, string>;
  /** Code that clients match, where the contract has one. */
  readonly code: string | undefined;
  /** Issues of the request, for spaces that respond with a list. */
  readonly issues: ValidationIssue[] | undefined;

  constructor(
    status: number,
    message: string,
    options: {
      headers?: Record<string, string>;
      code?: string;
      cause?: unknown;
      issues?: ValidationIssue[];
      pythonStatus?: number;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "AppError";
    this.status = status;
    this.pythonStatus = options.pythonStatus ?? status;
    this.headers = options.headers ?? {};
    this.code = options.code;
    this.issues = options.issues;
  }
}

export const unauthorized = (message: string): AppError => new AppError(401, message);
export const forbidden = (message: string): AppError => new AppError(403, message);
export const notFound = (message: string): AppError => new AppError(404, message);
export const conflict = (message: string): AppError => new AppError(409, message);
export const unprocessable = (message: string): AppError => new AppError(422, message);

/** Temporary failure that the caller may retry. `Retry-After` in seconds. */
export const unavailable = (message: string, retryAfter = 1, cause?: unknown): AppError =>
  new AppError(503, message, { headers: { "Retry-After": String(retryAfter) }, cause });

export function coerceError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
