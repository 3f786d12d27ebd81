/**
 * Mounts the project's own Hono app around the server's routes: its middleware wraps them, its routes
 * shadow them, unmatched requests fall through. Because it is mounted rather than called, routes read the body that its
 * middleware parsed and changed, and streams pass through unbuffered.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";

import type { Principal } from "../../base/auth/principal.ts";
import { type Guard, recognize, type Route, takesRequest } from "../../base/http/route.ts";
import { toAuthUser } from "../custom-auth/access.ts";
import type { CustomApp } from "./load-custom-app.ts";

type RouterRoute = CustomApp["routes"][number];

/**
 * Mounts the app.
 * @param guard authentication for the app's own routes, where the project enables it (`http.enable_custom_route_auth`)
 */
export function mountCustomApp(app: Hono, custom: CustomApp, guard: Guard | null): void {
  const [own, endpoints] = [new Set<object>(), new Set<object>()];
  if (guard) app.use(authenticateOwn(guard, own, endpoints));
  app.use(keepParsedBody);
  const before = app.routes.length;
  // only the members in `CustomApp` are used
  app.route("/", custom as Hono);
  for (const route of app.routes.slice(before)) {
    own.add(route);
    if (isEndpoint(route)) endpoints.add(route);
  }
}

/**
 * Authenticates the requests that an endpoint of the app takes, and those that no route of the server takes: a handler
 * that is registered like middleware may answer them. The router that runs the handlers has decided which these are.
 */
function authenticateOwn(guard: Guard, own: ReadonlySet<object>, endpoints: ReadonlySet<object>): MiddlewareHandler {
  return async (c, next) => {
    const isForEndpoint = matchedRoutes(c).some((route) => endpoints.has(route));
    if (!isForEndpoint && takesRequest(c, own)) return next();
    setUserHeader(c, await recognize(guard.authenticator, c));
    await next();
  };
}

/**
 * Shares the body that middleware reads with `c.req.json()` and changes with all later readers. Current
 * Hono versions parse it anew for each reader.
 */
const keepParsedBody: MiddlewareHandler = async (c: Context, next) => {
  const { req } = c;
  const json = req.json.bind(req);
  const text = req.text.bind(req);
  let parsed: Promise<unknown> | undefined;
  req.json = (() => (parsed ??= json())) as typeof req.json;
  // an invalid JSON body is passed on unchanged
  req.text = () =>
    parsed === undefined
      ? text()
      : parsed.then(
          (body) => JSON.stringify(body),
          () => text(),
        );
  await next();
};

/**
 * Whether a registration is an endpoint. Hono keeps middleware and endpoints in one list. Middleware is registered for
 * every method and a wildcard, and its handler can call `next`; in doubt it is an endpoint and needs authentication.
 * Apps joined by `mount()` are registered like middleware and recognized by their source text.
 */
function isEndpoint({ method, path, handler }: RouterRoute): boolean {
  if (method !== "ALL" || !path.includes("*")) return true;
  // Hono wraps the handlers of a sub-app that has its own error handler
  const { __COMPOSED_HANDLER: own = handler } = handler as { __COMPOSED_HANDLER?: RouterRoute["handler"] };
  return own.length < 2 || MOUNTED.test(String(own));
}

const MOUNTED = /\bapplicationHandler\(/;

/** `http.middleware_order: auth_first`: unauthenticated requests do not reach the project's middleware. */
export function authenticateFirst(app: Hono, routes: Route[], guard: Guard): void {
  const authenticate: MiddlewareHandler = async (c, next) => {
    setUserHeader(c, await recognize(guard.authenticator, c));
    await next();
  };
  for (const { permission, method, path, aliases = [] } of routes) {
    if (permission !== "public") for (const alias of [path, ...aliases]) app.on(method, alias, authenticate);
  }
}

/** Sets `c.get("auth")`, as LangGraph's server does. */
function setUserHeader(c: Context, principal: Principal): void {
  const user = toAuthUser(principal);
  c.set("auth", { user, scopes: user.permissions });
}
