/** One thing that is wrong with a request: where, as `["body", "source"]`, what, and of which kind. */
export interface ValidationIssue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/**
 * The one error class. Verbs throw it, `base/http/errors.ts` alone turns it into a response.
 * `status` is an HTTP status; 4xx for what the caller did, because clients re-send after any 5xx.
 */
export class AppError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** A word that clients look for, where the contract has one. */
  readonly code: string | undefined;
  /** What exactly is wrong with a request, for spaces that answer with a list. */
  readonly issues: ValidationIssue[] | undefined;

  constructor(
    status: number,
    message: string,
    options: { headers?: Record<string, string>; code?: string; cause?: unknown; issues?: ValidationIssue[] } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "AppError";
    this.status = status;
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

/** The server cannot do it now, the caller may try again. `Retry-After` in seconds. */
export const unavailable = (message: string, retryAfter = 1, cause?: unknown): AppError =>
  new AppError(503, message, { headers: { "Retry-After": String(retryAfter) }, cause });

export function coerceError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
