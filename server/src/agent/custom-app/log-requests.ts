import type { MiddlewareHandler } from "hono";

import type { Log } from "../../base/log.ts";
import type { HeaderRules } from "../project/http-schema.ts";
import { chosenHeaders, isStorable } from "./configurable-headers.ts";

/** `http.logging_headers`: logs each request at level info, with the selected headers. */
export function logRequests(log: Log, rules: HeaderRules): MiddlewareHandler {
  const isChosen = chosenHeaders(rules, () => false);
  return async (c, next) => {
    const started = performance.now();
    await next();
    const headers: Record<string, string> = {};
    c.req.raw.headers.forEach((value, name) => {
      if (isChosen(name) && isStorable(name, value)) headers[name] = value;
    });
    const { method, path } = c.req;
    log.info({ method, path, status: c.res.status, ms: Math.round(performance.now() - started), headers }, "request");
  };
}
