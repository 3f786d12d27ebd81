import { ERROR_STATUSES, type ErrorStatus } from "./error-statuses.ts";
import { errorContent, type ErrorFamily, type ErrorMode } from "./errors.ts";
import type { Route } from "./route.ts";

type Json = Record<string, unknown>;

/**
 * Lists a route's error statuses: those implied by its shape, and those declared in `errors`. A path with parameters
 * may not exist, a body may be unreadable, too slow, too large or invalid, and everything needs the database.
 */
export function errorStatuses(route: Route, limited: boolean): ErrorStatus[] {
  const statuses = new Set<ErrorStatus>(route.errors);
  if (route.permission !== "public") statuses.add(401).add(403);
  if (route.params) statuses.add(404);
  // control characters in a path are rejected before routing
  if (route.path.includes(":")) statuses.add(400);
  if (route.body) statuses.add(400);
  if (route.body || route.reads) {
    statuses.add(413);
    // public bodies have a separate budget
    if (route.permission !== "public") statuses.add(408);
  }
  if (route.params || route.query || route.body) statuses.add(422);
  if (limited) statuses.add(429);
  // headers are limited before routing
  return [...statuses.add(431).add(503)].toSorted((a, b) => a - b);
}

/** Returns the error format of a route. */
const errorFormat = (route: Route, mode: ErrorMode): ErrorMode | ErrorFamily => route.errorFamily ?? mode;

const schemaName = (status: ErrorStatus, mode: ErrorMode | ErrorFamily): string =>
  `Error${status}${{ error: "Platform", problem: "Problem", validation: "Validation", text: "", detail: "", python: "" }[mode]}`;

/** Returns a reference such as `#/components/responses/Error404`, and adds its target to `components`. */
export function errorReference(
  status: ErrorStatus,
  route: Route,
  mode: ErrorMode,
  components: Record<string, Json>,
): Json {
  const own = errorFormat(route, mode);
  const name = schemaName(status, own);
  // the HTTP parser itself responds 431, without a body
  const content = status === 431 ? {} : { content: errorContent(own, status) };
  components[name] ??= { description: ERROR_STATUSES[status], ...content };
  return { $ref: `#/components/responses/${name}` };
}
