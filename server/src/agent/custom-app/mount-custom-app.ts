/**
 * The project's own Hono app around our routes (contract §17): its middleware wraps them, its routes shadow them,
 * what it does not match falls through. Mounted, not called: so a body that its middleware has parsed and changed
 * is the one that our routes read, and streams pass as they are.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";

import type { Principal } from "../../base/auth/principal.ts";
import { type Guard, recognise, type Route } from "../../base/http/route.ts";
import { userOf } from "../custom-auth/access.ts";
import { keepParsedBody } from "./keep-parsed-body.ts";
import type { CustomApp } from "./load-custom-app.ts";

type RouterRoute = CustomApp["routes"][number];

/** `guard`: for its own routes too, where the project wants that (`http.enable_custom_route_auth`). */
export function mountCustomApp(app: Hono, custom: CustomApp, guard: Guard | null): void {
  if (guard) {
    const letIn = authenticateRoute(guard);
    for (const route of custom.routes) if (isEndpoint(route)) app.on(route.method, route.path, letIn);
  }
  app.use(keepParsedBody);
  // it asks for no more of the other app than `CustomApp` has
  app.route("/", custom as Hono);
}

/**
 * Hono keeps middleware and endpoints in one list. Middleware is what was registered for every method and a
 * wildcard and can call the next; in doubt it is an endpoint, and needs authentication. What `mount()` joins is
 * registered as middleware is, and known by its text.
 */
function isEndpoint({ method, path, handler }: RouterRoute): boolean {
  if (method !== "ALL" || !path.includes("*")) return true;
  // a part with an error handler of its own has its handlers wrapped
  const { __COMPOSED_HANDLER: own = handler } = handler as { __COMPOSED_HANDLER?: RouterRoute["handler"] };
  return own.length < 2 || MOUNTED.test(String(own));
}

const MOUNTED = /\bapplicationHandler\(/;

function authenticateRoute(guard: Guard): MiddlewareHandler {
  return async (c, next) => {
    tellUser(c, await recognise(guard.authenticator, c));
    await next();
  };
}

/** `http.middleware_order: auth_first`: whoever is not known does not get as far as the project's middleware. */
export function authenticateFirst(app: Hono, routes: Route[], guard: Guard): void {
  const letIn = authenticateRoute(guard);
  for (const { permission, method, path, aliases = [] } of routes) {
    if (permission !== "public") for (const one of [path, ...aliases]) app.on(method, one, letIn);
  }
}

/** As in the reference server: `c.get("auth")`. */
export function tellUser(c: Context, principal: Principal): void {
  const user = userOf(principal);
  c.set("auth", { user, scopes: user.permissions });
}
