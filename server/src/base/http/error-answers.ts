import { ERROR_STATUSES, type ErrorStatus } from "./error-statuses.ts";
import { errorContent, type ErrorMode } from "./errors.ts";
import type { Route } from "./route.ts";

type Json = Record<string, unknown>;

/**
 * What can go wrong on a route: what follows from its shape, and what it declares itself in `errors`. A path with
 * parameters may lead to nothing, a body may be unreadable, too large or wrong, and everything needs the database.
 */
export function errorsOf(route: Route, limited: boolean): ErrorStatus[] {
  const statuses = new Set<ErrorStatus>(route.errors);
  if (route.permission !== "public") statuses.add(401).add(403);
  if (route.params) statuses.add(404);
  if (route.body) statuses.add(400).add(413);
  if (route.params || route.query || route.body) statuses.add(422);
  if (limited) statuses.add(429);
  return [...statuses.add(503)].toSorted((a, b) => a - b);
}

/** In whose words a route's errors are. */
const modeOf = (route: Route, mode: ErrorMode): ErrorMode | "error" => route.errorFamily ?? mode;

const nameOf = (status: ErrorStatus, mode: ErrorMode | "error"): string =>
  `Error${status}${mode === "error" ? "Platform" : ""}`;

/** `#/components/responses/Error404` and, in `components`, what it refers to. */
export function errorReference(
  status: ErrorStatus,
  route: Route,
  mode: ErrorMode,
  components: Record<string, Json>,
): Json {
  const own = modeOf(route, mode);
  const name = nameOf(status, own);
  components[name] ??= { description: ERROR_STATUSES[status], content: errorContent(own) };
  return { $ref: `#/components/responses/${name}` };
}
