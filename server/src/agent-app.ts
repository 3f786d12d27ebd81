/** Mounts the agent space. */
import type { Hono } from "hono";

import { corsRules } from "./agent/custom-app/cors-rules.ts";
import { admitOwnCode } from "./agent/custom-app/in-process-client.ts";
import { logRequests } from "./agent/custom-app/log-requests.ts";
import { authenticateFirst, mountCustomApp } from "./agent/custom-app/mount-custom-app.ts";
import { pythonAppHandler, rejectUnauthenticated } from "./agent/custom-app/python-app.ts";
import { toAuthUser } from "./agent/custom-auth/access.ts";
import { projectAuthenticator } from "./agent/custom-auth/authenticate.ts";
import type { AgentDeps } from "./agent/deps.ts";
import { agentRoutes, workerRoutes } from "./agent/index.ts";
import { errorFormat } from "./agent/project/error-format.ts";
import { agentOptions } from "./agent/settings.ts";
import { createApp, type Surroundings } from "./app.ts";
import type { ErrorFormat } from "./base/http/errors.ts";
import { holdBodies } from "./base/http/hold-body.ts";
import { takeInternalHeaders } from "./base/http/internal-headers.ts";
import { type Guard, IN_PROCESS, recognize } from "./base/http/route.ts";
import { agentOrigins, LOCAL, type Reach } from "./pages.ts";

const [BODY_SETTING] = agentOptions.maxBodyBytes.env as [string];

/**
 * Builds the agent application. A `worker` serves only health and metrics; its internal requests, such as those of
 * webhooks, reach every route.
 */
export function createAgentApp(deps: AgentDeps, guard: Guard, worker = false, reach: Reach = LOCAL): Hono {
  const { served } = guard;
  const keys = served ? admitOwnCode(guard.authenticator, deps.ownCodeApi, served) : guard.authenticator;
  const authenticator = served ? projectAuthenticator(deps, keys, served) : keys;
  const app = createApp(deps, agentRoutes(deps), { ...guard, authenticator }, projectSurroundings(deps, reach));
  deps.loopback.answer = async (request) => app.fetch(request);
  deps.loopback.answerOwnCode = async (request) => app.fetch(request, IN_PROCESS);
  deps.loopback.ready = true;
  if (!worker) return app;
  const errors = errorsFor(deps);
  return createApp(deps, workerRoutes(deps), guard, {
    allows: agentOrigins(deps, reach),
    bodySetting: BODY_SETTING,
    errors,
  });
}

const errorsFor =
  (deps: AgentDeps): ErrorFormat =>
  (c) =>
    errorFormat(deps.settings.errors, c.req.header("user-agent"));

/** Reads the HTTP section of langgraph.json: CORS rules, a prefix, the project's own app. */
function projectSurroundings(deps: AgentDeps, reach: Reach): Surroundings {
  const { http } = deps.project.config;
  const prefix = deps.settings.mountPrefix ?? http.mount_prefix;
  const rules = http.logging_headers;
  return {
    allows: agentOrigins(deps, reach),
    arrival: takeInternalHeaders,
    corsRules: corsRules(http.cors),
    bodySetting: BODY_SETTING,
    errors: errorsFor(deps),
    logger: rules && logRequests(deps.log, rules),
    prefix: prefix === "" ? undefined : prefix,
    mountFirst: ownApp(deps),
  };
}

/** Mounts the project's own app ahead of the routes; undefined without one, which makes each response cheaper. */
function ownApp(deps: AgentDeps): Surroundings["mountFirst"] {
  const { customApp } = deps;
  const pythonApp = deps.python.ready?.app;
  if (!customApp && !pythonApp) return undefined;
  const { middleware_order, enable_custom_route_auth } = deps.project.config.http;
  return (app, routes, guard, bodies) => {
    if (middleware_order === "auth_first") authenticateFirst(app, routes, guard);
    // the project's middleware may read bodies that our routes read again
    app.use(holdBodies(bodies));
    if (customApp) return mountCustomApp(app, customApp, enable_custom_route_auth ? guard : null);
    app.use(
      pythonAppHandler({
        process: () => deps.python.process,
        describe: () => deps.python.ready?.app ?? pythonApp!,
        authenticate: enable_custom_route_auth
          ? async (c) => toAuthUser(await recognize(guard.authenticator, c))
          : null,
      }),
      rejectUnauthenticated,
    );
  };
}
